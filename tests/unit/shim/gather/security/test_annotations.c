/* "security.annotations" as values. */
#include "tests/unit/shim/gather/security/security_unit.h"

#define ANNOTATION(key, value) "\"annotations\":{\"" key "\":\"" value "\"}"

/* Annotations by which a runtime would replace what was judged. */
static void test_annotations_around_the_policy(void **state)
{
    static const struct {
        const char *security, *config, *says; /* NULL: allowed */
    } rows[] = {
        {"\"seccomp\":{\"deny\":[\"bpf\"]}", ANNOTATION("run.oci.seccomp_bpf_data", "eA=="),
         "security.annotations: 'run.oci.seccomp_bpf_data' replaces the filter for system calls, "
         "past "
         "security.seccomp: leave it out (policy.json:1)"},
        {"\"seccomp\":{\"profile\":\"/p\"}", ANNOTATION("run.oci.seccomp_bpf_data", "x"),
         "past security"},
        {"\"devices\":{\"allow\":[]}", ANNOTATION("run.oci.seccomp_bpf_data", "x"), NULL},
        {"\"seccomp\":{\"deny\":[\"bpf\"]}",
         ANNOTATION("run.oci.seccomp_fail_unknown_syscall", "1"), NULL},
        {"\"seccomp\":{\"deny\":[\"bpf\"]}", ANNOTATION("run.oci.seccomp.receiver", "/x"),
         "has a program"},
        {"\"user\":{\"root\":\"deny\"}", ANNOTATION("run.oci.seccomp.plugins", "/x.so"),
         "loads a library"},
        {"\"devices\":{\"allow\":[]}", ANNOTATION("run.oci.handler", "krun"),
         "past security.devices"},
        {"\"user\":{\"root\":\"deny\"}", ANNOTATION("module.wasm.image/variant", "compat"),
         "past security.user"},
        {"\"seccomp\":{\"require\":false}", ANNOTATION("run.oci.handler", "krun"), NULL},
        {"\"user\":{\"root\":\"deny\"}", ANNOTATION("run.oci.keep_original_groups", "1"),
         "engine's groups"},
        {"\"hooks\":\"deny\"", ANNOTATION("run.oci.hooks.stdout", "/etc/cron.d/x"),
         "past security.hooks"},
        {"\"hooks\":\"deny\"", ANNOTATION("run.oci.hooks.stderr", "/x"), "has root write"},
        {"\"privileged\":\"deny\"", ANNOTATION("run.oci.pidfd_receiver", "/x"), "has root connect"},
        {"\"privileged\":\"deny\"", ANNOTATION("run.oci.mount_context_type", "rootcontext"), NULL},
        {"\"privileged\":\"deny\"", ANNOTATION("run.oci.mount_context_type", "lowerdir=/,x"),
         "adds options"},
        {"\"privileged\":\"deny\"", ANNOTATION("run.oci.systemd.force_cgroup_v1", "/x"),
         "mounts the host's"},
        {"\"devices\":{\"allow\":[]}", ANNOTATION("run.oci.systemd.subgroup", "../x"),
         "another cgroup"},
        {"\"devices\":{\"allow\":[]}", ANNOTATION("run.oci.delegate-cgroup", "../x"),
         "another cgroup"},
        {"\"devices\":{\"allow\":[]}", ANNOTATION("run.oci.of.tomorrow", "x"),
         "'run.oci.of.tomorrow' is not known"},
        {"\"devices\":{\"allow\":[]}", ANNOTATION("run.oci", "x"), NULL},
        {"\"namespaces\":{\"host\":[]}", ANNOTATION("org.criu.config", "/x"), "has CRIU read"},
        {"\"namespaces\":{\"host\":[]}", ANNOTATION("bundle", "/x"), "'runc exec' reads"},
        {"\"privileged\":\"deny\"", ANNOTATION("org.systemd.property.TimeoutStopUSec", "1"), NULL},
        {"\"privileged\":\"deny\"", ANNOTATION("org.systemd.property.MemoryMax", "1"), NULL},
        {"\"privileged\":\"deny\"", ANNOTATION("org.systemd.property.DeviceAllow", "[]"),
         "host's systemd"},
        {"\"privileged\":\"deny\"", ANNOTATION("org.systemd.property.FailureAction", "x"),
         "host's systemd"},
        {"\"privileged\":\"deny\"", ANNOTATION("org.systemd.property.", "x"), "host's systemd"},
        /* runc reads a key with "=" as another key. */
        {"\"privileged\":\"deny\"", ANNOTATION("org.criu.config=/x", "y"),
         "'org.criu.config=/x' has CRIU read"},
        {"\"annotations\":{\"deny\":[\"org.criu.config\"]}", ANNOTATION("org.criu.config=/x", "y"),
         "'org.criu.config=/x' may not be set"},
        {"\"privileged\":\"deny\"", ANNOTATION("bundle=/x", "y"), "'bundle=/x' replaces"},
        {"\"privileged\":\"deny\"", ANNOTATION("com.example.bundle", "y"), NULL},
        /* The administrator may know better. */
        {"\"devices\":{\"allow\":[]},\"annotations\":{\"allow\":[\"run.oci.handler\"]}",
         ANNOTATION("run.oci.handler", "wasm"), NULL},
        {"\"devices\":{\"allow\":[]},\"annotations\":{\"allow\":[\"*\"],\"deny\":[\"run.*\"]}",
         ANNOTATION("run.oci.handler", "wasm"), "may not be set"},
        {"\"privileged\":\"deny\",\"annotations\":{\"allow\":[\"org.criu.config\"]}",
         ANNOTATION("org.criu.config=/x", "y"), "has CRIU read"},
        {"", ANNOTATION("run.oci.seccomp.plugins", "x"), NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_free_ char *config =
            strf("%s,\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\"},"
                 "%s}",
                 rows[i].config, ORDINARY_RULES);
        check(rows[i].security, config, NO_FACTS, rows[i].says);
    }
}

/* The administrator's "allow" beats the "deny" of a preset. */
static void test_annotations_beside_a_preset(void **state)
{
    static const struct {
        const char *allow, *config, *says; /* NULL: allowed */
    } rows[] = {
        {"\"run.oci.hand*\"", ANNOTATION("run.oci.handler", "wasm"), NULL},
        {"\"run.oci.hand*\"", ANNOTATION("run.oci.timens_offset", "x"), "may not be set"},
        {"\"org.criu.config=*\"", ANNOTATION("org.criu.config=/x", "y"), "may not be set"},
        {"", ANNOTATION("run.oci.keep_original_groups", "1"), "engine's groups"},
        {"", ANNOTATION("run.oci.keep_original_groups=x", "1"), "engine's groups"},
        {"", ANNOTATION("run.oci.kept", "1"), "is not known"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_free_ char *security = strf(
            "\"preset\":\"shared-lab\",\"system_paths\":\"keep\",\"annotations\":{\"allow\":[%s]}",
            rows[i].allow);
        _cleanup_free_ char *config =
            strf("%s,\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\"},%s}",
                 rows[i].config, ORDINARY_RULES);
        check(security, config, NO_FACTS, rows[i].says);
    }
}

UNIT_SUITE(test_annotations)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_annotations_around_the_policy),
        cmocka_unit_test(test_annotations_beside_a_preset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
