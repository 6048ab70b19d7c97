/* "security" as values: config.json × facts → verdicts and edits. */
#include "tests/unit/shim/gather/security/security_unit.h"

#include "shim/privilege/capability.h"
#include "shim/privilege/namespace.h"

static void test_privileged(void **state)
{
    static const char deny[] = "\"privileged\":\"deny\"";
    static const char admin[] = CAPS("\"CAP_SYS_ADMIN\"");
    _cleanup_free_ char *all = strf("%s,%s", admin,
                                    RULES("{\"allow\":false,\"access\":\"rwm\"},"
                                          "{\"allow\":true,\"type\":\"a\",\"access\":\"rwm\"}"));
    _cleanup_free_ char *some = strf("%s,%s", admin, RULES(ORDINARY));

    (void)state;
    check(deny, all, NO_FACTS, "security.privileged: the container is privileged");
    check(deny, admin, NO_FACTS, "the container is privileged");
    check(deny, some, NO_FACTS, NULL);
    /* Access to all disks suffices, as does access to all devices in two rules. */
    _cleanup_free_ char *disks =
        strf("%s,%s", admin, RULES(TAKEN ",{\"allow\":true,\"type\":\"b\",\"access\":\"rwm\"}"));
    check(deny, disks, NO_FACTS, "the container is privileged");
    _cleanup_free_ char *nodes =
        strf("%s,%s", admin,
             RULES(TAKEN ",{\"allow\":true,\"type\":\"b\",\"access\":\"m\"},"
                         "{\"allow\":true,\"type\":\"c\",\"access\":\"rwm\"}"));
    check(deny, nodes, NO_FACTS, NULL);
    _cleanup_free_ char *again =
        strf("%s,%s", admin,
             RULES(TAKEN ",{\"allow\":true,\"type\":\"b\",\"access\":\"rw\"},"
                         "{\"allow\":false,\"type\":\"b\",\"access\":\"rwm\"}"));
    check(deny, again, NO_FACTS, NULL);
    check(deny, CAPS("\"CAP_CHOWN\""), NO_FACTS, NULL);
    check("\"privileged\":\"allow\",\"devices\":{\"allow\":[]},\"capabilities\":{\"max\":[]},"
          "\"seccomp\":{\"require\":true}",
          all, NO_FACTS, NULL);
}

static void test_root(void **state)
{
    static const char deny[] = "\"user\":{\"root\":\"deny\",\"say\":\"use --user\"}";

    (void)state;
    check(deny, "\"process\":{}", (struct security_facts){.host_root = true},
          "would be root on this host: use --user (policy.json:1)");
    check(deny, "\"process\":{}", NO_FACTS, NULL);
    check("", "\"process\":{}", (struct security_facts){.host_root = true}, NULL);
}

#define CONSOLE "{\"allow\":true,\"type\":\"c\",\"major\":5,\"minor\":1,\"access\":\"rwm\"}"

static void test_console(void **state)
{
    static const char node[] = "\"linux\":{\"devices\":[{\"path\":\"/dev/console\",\"type\":\"c\","
                               "\"major\":5,\"minor\":1}]," ORDINARY_RULES "}";
    static const char devices[] = "\"devices\":{\"allow\":[]}";
    struct device_number named = {.major = 5, .minor = 1};
    struct security_facts facts = NO_FACTS;

    (void)state;
    struct result r = judge(devices, RULES(ORDINARY "," CONSOLE), &facts);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.verdict, PLAN_DOWNGRADED);
    assert_null(strstr(r.config, "\"major\":5"));
    assert_non_null(strstr(r.config, "\"major\":10"));
    free(r.config);
    check(devices, node, NO_FACTS, "/dev/console (c 5:1) is not allowed");
    facts.devices = (struct device_numbers){&named, 1};
    check("\"devices\":{\"allow\":[\"/dev/console\"]}", RULES(TAKEN "," CONSOLE), facts, NULL);
    check("\"hooks\":\"deny\"", RULES(ORDINARY "," CONSOLE), NO_FACTS, NULL);
}

static void test_groups(void **state)
{
    static const char own[] = "\"user\":{\"groups\":\"own\",\"say\":\"use --user\"}";
    static const char process[] =
        "\"process\":{\"user\":{\"uid\":1,\"gid\":1,\"additionalGids\":[42,5000,6,42]}}";
    static const uint32_t others[] = {42, 6, 42};
    struct security_facts facts = {
        .groups_other = others, .groups_other_count = 3, .groups_words = "42 (shadow), 6"};

    (void)state;
    check(own, process, NO_FACTS, NULL);
    check("\"user\":{\"groups\":\"any\"}", process, facts, NULL);
    check(own, process, (struct security_facts){.group_problem = "the group 0"},
          "the group 0: use --user (policy.json:1)");
    struct result r = judge(own, process, &facts);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.verdict, PLAN_DOWNGRADED);
    assert_non_null(strstr(r.message, "42 (shadow), 6"));
    assert_non_null(strstr(r.config, "\"additionalGids\":[5000]"));
    free(r.config);
}

#define READONLY                                                                                   \
    "\"readonlyPaths\":[\"/proc/bus\",\"/proc/fs\",\"/proc/irq\",\"/proc/sys\",\"/proc/"           \
    "sysrq-trigger\"]"
#define MASKED "\"maskedPaths\":[\"/proc/kcore\",\"/sys/firmware\"]"

static void test_system_paths(void **state)
{
    static const char deny[] = "\"system_paths\":\"deny\"";

    (void)state;
    check(deny, "\"linux\":{" READONLY "," MASKED "," ORDINARY_RULES "}", NO_FACTS, NULL);
    check(deny,
          "\"linux\":{\"readonlyPaths\":[\"/proc/sys/\",\"/proc//sysrq-trigger\",\"/proc/bus\"],"
          "\"maskedPaths\":[\"/proc/irq\",\"/proc/kcore\"]," ORDINARY_RULES "}",
          NO_FACTS, NULL);
    check(deny, "\"linux\":{" READONLY "," ORDINARY_RULES "}", NO_FACTS,
          "security.system_paths: nothing keeps the container from /proc/kcore of this host");
    check(deny, "\"linux\":{\"readonlyPaths\":[],\"maskedPaths\":[]," ORDINARY_RULES "}", NO_FACTS,
          "nothing keeps the container from /proc/sys, /proc/sysrq-trigger, /proc/irq, /proc/bus, "
          "/proc/kcore of this host (systempaths=unconfined)");
    check(deny,
          "\"linux\":{\"readonlyPaths\":[\"/proc/sys/net\",\"/proc/sysrq-trigger\",\"/proc/"
          "irq\",\"/proc/bus\"]," MASKED "," ORDINARY_RULES "}",
          NO_FACTS, "from /proc/sys of this host");
    check("\"system_paths\":\"keep\"", "\"linux\":{" ORDINARY_RULES "}", NO_FACTS, NULL);
    check(deny, "\"linux\":{\"readonlyPaths\":[\"/proc\"]," MASKED "," ORDINARY_RULES "}", NO_FACTS,
          NULL);
    check(deny, "\"linux\":{\"maskedPaths\":[\"//proc/.\"]," ORDINARY_RULES "}", NO_FACTS, NULL);
    /* The same file systems in other places, or writable. */
    check(deny,
          "\"mounts\":[{\"destination\":\"/x\",\"type\":\"proc\"}],\"linux\":{" READONLY "," MASKED
          "," ORDINARY_RULES "}",
          NO_FACTS, "another /proc, on /x");
    check(deny,
          "\"mounts\":[{\"destination\":\"/"
          "sys\",\"type\":\"sysfs\",\"options\":[\"rw\"]}],\"linux\":{" READONLY "," MASKED
          "," ORDINARY_RULES "}",
          NO_FACTS, "a writable sysfs, on /sys");
    check(deny,
          "\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\"},{\"destination\":\"/"
          "sys\",\"type\":\"sysfs\",\"options\":[\"ro\"]}],\"linux\":{" READONLY "," MASKED
          "," ORDINARY_RULES "}",
          NO_FACTS, NULL);
}

/* Paths that low-level runtimes do not cover, or not where the container's process is. */
static void test_covers_of_nothing(void **state)
{
    static const char *const lists[] = {
        "\"maskedPaths\":[\"/\"]",          "\"maskedPaths\":[\"/.\"]",
        "\"maskedPaths\":[\"//\"]",         "\"maskedPaths\":[\"/proc/..\"]",
        "\"maskedPaths\":[\"\"]",           "\"maskedPaths\":[\"proc\"]",
        "\"maskedPaths\":[\"/x/../proc\"]", "\"maskedPaths\":[\"/sys\"]",
        "\"maskedPaths\":[\"/proc/x/..\"]",
    };
    char spec[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        snprintf(spec, sizeof(spec), "\"linux\":{%s," ORDINARY_RULES "}", lists[i]);
        check("\"system_paths\":\"deny\"", spec, NO_FACTS, "keeps the container from /proc/sys, ");
    }
    check("\"system_paths\":\"deny\"",
          "\"linux\":{\"readonlyPaths\":[\"/\"]," MASKED "," ORDINARY_RULES "}", NO_FACTS,
          "from /proc/sys, /proc/sysrq-trigger, /proc/irq, /proc/bus of this host");
}

static void test_namespaces(void **state)
{
    struct security_facts pid = {.host_namespaces = 1u << NAMESPACE_PID};
    struct security_facts mnt = {.host_namespaces = 1u << NAMESPACE_MNT};
    struct security_facts usual = {.host_namespaces =
                                       1u << NAMESPACE_USER | 1u << NAMESPACE_CGROUP};

    (void)state;
    check("\"namespaces\":{\"host\":[]}", "", pid, "would share the host's pid namespace");
    check("\"namespaces\":{\"host\":[\"net\"]}", "", pid, "pid namespace");
    check("\"namespaces\":{\"host\":[\"net\",\"pid\"]}", "", pid, NULL);
    check("\"namespaces\":{\"host\":[]}", "", mnt, "mnt namespace");
    check("\"namespaces\":{\"host\":[]}", "", usual, NULL);
    check("\"namespaces\":{\"require\":[\"user\"]}", "", usual, "user namespace");
    check("", "", pid, NULL);
}

static void test_devices(void **state)
{
    static const char gpus[] = "\"devices\":{\"allow\":[\"/dev/nvidia*\"]}";
    struct device_number numbers[] = {{false, 195, 0}};
    struct security_facts facts = {.devices = {numbers, 1}};

    (void)state;
    check(gpus, RULES(ORDINARY), facts, NULL);
    check(gpus, RULES(TAKEN ",{\"allow\":true,\"type\":\"c\",\"major\":195,\"minor\":0}"), facts,
          NULL);
    check(gpus, RULES(TAKEN ",{\"allow\":true,\"type\":\"b\",\"major\":195,\"minor\":0}"), facts,
          "could use the device b 195:0");
    check(gpus, RULES(TAKEN ",{\"allow\":true,\"type\":\"b\",\"access\":\"rw\"}"), facts,
          "could use all devices");
    check(gpus, RULES(TAKEN ",{\"allow\":true,\"type\":\"c\",\"access\":\"rw\"}"), facts,
          "could use the device c *:*");
    check(gpus, RULES(TAKEN ",{\"allow\":true,\"type\":\"a\",\"major\":1,\"minor\":3}"), facts,
          "could use all devices");
    check(gpus, RULES("{\"allow\":false,\"access\":\"m\"}"), facts, "could use all devices");
    check(gpus,
          RULES("{\"allow\":true,\"access\":\"rwm\"},{\"allow\":false,\"type\":\"b\",\"access\":"
                "\"rwm\"}"),
          facts, "could use all devices");
    check(gpus, "", facts, "could use all devices");
    check(gpus,
          "\"linux\":{\"devices\":[{\"path\":\"/dev/"
          "nvidia0\",\"type\":\"b\",\"major\":8,\"minor\":0}],"
          "\"resources\":{\"devices\":[" TAKEN "]}}",
          facts, "/dev/nvidia0 (b 8:0) is not allowed");
    /* crun reads the first letter of a type: these are disks, not terminals. */
    check(gpus,
          "\"linux\":{\"devices\":[{\"path\":\"/dev/"
          "x\",\"type\":\"block\",\"major\":136,\"minor\":0}],"
          "\"resources\":{\"devices\":[" TAKEN "]}}",
          facts, "/x (block 136:0) is not allowed");
    check(gpus, RULES(TAKEN ",{\"allow\":true,\"type\":\"blk\",\"major\":136,\"minor\":0}"), facts,
          "could use the device blk 136:0");
    check(gpus, RULES(TAKEN ",{\"allow\":true,\"type\":\"all\",\"access\":\"rw\"}"), facts,
          "could use all devices");
    check(gpus,
          "\"linux\":{\"devices\":[{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":195,\"minor\":0}],"
          "\"resources\":{\"devices\":[" TAKEN "]}}",
          facts, NULL);
}

/* Where ids are mapped podman writes no rules for devices. */
static void test_missing_rules(void **state)
{
    static const char deny[] = "\"devices\":{\"allow\":[\"/dev/nvidia*\"]}";
    static const char nodes[] =
        "\"linux\":{\"devices\":[{\"path\":\"/dev/x\",\"type\":\"u\",\"major\":195,\"minor\":0},"
        "{\"path\":\"/dev/p\",\"type\":\"p\"}]";
    struct device_number numbers[] = {{false, 195, 0}};
    struct security_facts facts = {.devices = {numbers, 1}, .maps_ids = true};
    _cleanup_free_ char *bare = strf("%s}", nodes);
    _cleanup_free_ char *ruled =
        strf("{%s,\"resources\":{\"devices\":[{\"allow\":false,\"access\":\"rwm\"},{\"allow\":true,"
             "\"access\":\"rwm\",\"type\":\"c\",\"major\":195,\"minor\":0}]}}}",
             nodes);

    (void)state;
    struct result r = judge(deny, bare, &facts);
    assert_int_equal(r.verdict, PLAN_DOWNGRADED);
    assert_string_equal(r.config, ruled);
    free(r.config);
    facts.devices.count = 0;
    check("", bare, facts, NULL);
    facts.ids_other = "its user namespace has uids 7 to 8 of this host";
    check(deny, "\"linux\":{}", facts,
          "only put in for ids of its own: its user namespace has uids 7");
    check(deny, RULES(TAKEN), facts, NULL);
    check(deny, RULES("{\"allow\":true,\"access\":\"rwm\"}"), facts, "could use all devices");
}

static void test_annotations_and_hooks(void **state)
{
    static const char deny[] = "\"annotations\":{\"deny\":[\"run.oci.*\",\"org.criu.config\"]}";

    (void)state;
    check(deny, "\"annotations\":{\"run.oci.handler\":\"x\"}", NO_FACTS,
          "security.annotations: 'run.oci.handler' may not be set");
    check(deny, "\"annotations\":{\"run.ocl\":\"x\"}", NO_FACTS, NULL);
    check("\"hooks\":\"deny\"", "\"hooks\":{\"prestart\":[{\"path\":\"/x\"}]}", NO_FACTS,
          "has prestart hooks");
    check("\"hooks\":\"deny\"", "\"hooks\":{\"prestart\":[]}", NO_FACTS, NULL);
    check("\"hooks\":\"keep\"", "\"hooks\":{\"prestart\":[{\"path\":\"/x\"}]}", NO_FACTS, NULL);
}

static void test_filters(void **state)
{
    static const char strict[] = "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\"}}";
    struct security_facts lets = {.let_through = "mount"};
    struct security_facts odd = {.filter_problem = "it is odd"};

    (void)state;
    check("\"seccomp\":{\"require\":true}", "", NO_FACTS, "no filter for system calls");
    check("\"seccomp\":{\"require\":true}", strict, NO_FACTS, NULL);
    check("\"seccomp\":{\"deny\":[\"mount\"]}", strict, lets,
          "the container's filter allows mount");
    check("\"seccomp\":{\"deny\":[\"mount\"]}", strict, NO_FACTS, NULL);
    check("\"seccomp\":{\"deny\":[\"mount\"]}", strict, odd, "it is odd");
}

/* The runtime, as root, connects to the socket. */
static void test_a_listener_for_system_calls(void **state)
{
    static const char listener[] = "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\","
                                   "\"listenerPath\":\"/tmp/s\"}}";
    static const char empty[] =
        "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"listenerPath\":\"\"}}";

    (void)state;
    check("\"seccomp\":{\"require\":true}", listener, NO_FACTS,
          "security.seccomp: the runtime would connect to the socket /tmp/s");
    check("\"seccomp\":{\"deny\":[\"mount\"]}", listener, NO_FACTS, "listenerPath");
    check("\"seccomp\":{\"require\":true}", empty, NO_FACTS, NULL);
    check("\"seccomp\":{\"require\":false}", listener, NO_FACTS, NULL);
}

/* The filter is there before the runtime gives up its rights. */
static void test_calls_that_a_filter_fakes(void **state)
{
    static const char faked[] =
        "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{"
        "\"names\":[\"setuid\",\"capset\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":0}]}}";
    static const char wrapped[] =
        "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":["
        "\"prctl\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":65536,\"args\":[{\"index\":0,"
        "\"value\":24,\"op\":\"SCMP_CMP_EQ\"}]}]}}";
    static const char others[] = "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\","
                                 "\"defaultErrnoRet\":0}}";
    static const char unknown[] =
        "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":["
        "\"socket\",\"prctl\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":22}]}}";
    static const char honest[] =
        "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{"
        "\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":22},{"
        "\"names\":[\"setuid\"],\"action\":\"SCMP_ACT_ERRNO\"},{\"names\":[\"read\"],"
        "\"action\":\"SCMP_ACT_ALLOW\",\"errnoRet\":0}]}}";

    (void)state;
    check("\"user\":{\"root\":\"deny\"}", faked, NO_FACTS, "skips setuid and");
    check("\"capabilities\":{\"drop\":[\"SYS_ADMIN\"]}", faked, NO_FACTS, "skips setuid and");
    check("\"seccomp\":{\"require\":true}", wrapped, NO_FACTS, "skips prctl and");
    check("\"capabilities\":{\"drop\":[\"SYS_ADMIN\"]}", unknown, NO_FACTS, "skips prctl and");
    check("\"privileged\":\"deny\"", others, NO_FACTS, "all calls that it does not name");
    check("\"user\":{\"root\":\"deny\"}", honest, NO_FACTS, NULL);
    check("\"seccomp\":{\"require\":false}", faked, NO_FACTS, NULL);
}

/* Compares the document after the edit; a second edit changes nothing. */
static void edited(const char *security, const char *before, const char *after)
{
    struct security_facts facts = {0}, again = {0};
    _cleanup_free_ char *expected = strf("{%s}", after);
    struct result r = judge(security, before, &facts);
    struct result second = judge(security, after, &again);

    assert_int_equal(r.verdict, PLAN_DOWNGRADED);
    assert_string_equal(r.config, expected);
    assert_int_equal(second.count, 0);
    free(r.config);
    free(second.config);
}

static void test_capabilities_are_taken_away(void **state)
{
    (void)state;
    edited(
        "\"capabilities\":{\"max\":[\"CHOWN\",\"cap_kill\"]}",
        CAPS(
            "\"CAP_CHOWN\",\"CAP_SYS_ADMIN\",\"CAP_KILL\",\"CAP_NEW\"") ",\"linux\":{\"resources\":"
                                                                        "{\"devices\":[" TAKEN
                                                                        "]}}",
        CAPS("\"CAP_CHOWN\",\"CAP_KILL\"") ",\"linux\":{\"resources\":{\"devices\":[" TAKEN "]}}");
    edited("\"capabilities\":{\"drop\":[\"NET_RAW\"]}", CAPS("\"CAP_CHOWN\",\"CAP_NET_RAW\""),
           CAPS("\"CAP_CHOWN\""));
    edited("\"capabilities\":{\"drop\":[\"ALL\"]}", CAPS("\"CAP_CHOWN\",\"CAP_NET_RAW\""),
           CAPS(""));
    check("\"capabilities\":{\"max\":[\"ALL\"]}", CAPS("\"CAP_CHOWN\""), NO_FACTS, NULL);
}

static void test_no_new_privileges(void **state)
{
    (void)state;
    edited("\"no_new_privileges\":true", "\"process\":{\"noNewPrivileges\":false}",
           "\"process\":{\"noNewPrivileges\":true}");
    check("\"no_new_privileges\":false", "\"process\":{}", NO_FACTS, NULL);
    check("\"no_new_privileges\":true", "", NO_FACTS, NULL);
}

static void test_capability_names(void **state)
{
    (void)state;
    assert_true(capability_bit("CHOWN") == 1);
    assert_true(capability_bit("CAP_CHOWN") == 1);
    assert_true(capability_bit("cap_dac_override") == 2);
    assert_true(capability_bit("21") == capability_bit("SYS_ADMIN")); /* as libcap, and so crun */
    assert_true(capability_bit("99") == 0);
    assert_true(capability_bit("NOPE") == 0);
    assert_true(capability_bit("") == 0);
}

#define SECURITY(text) "{\"version\":1,\"security\":{" text "}}"

static void test_policies_that_are_wrong(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {SECURITY("\"privileged\":\"no\""), "expected one of allow, deny"},
        {SECURITY("\"hooks\":\"allow\""), "expected one of keep, deny"},
        {SECURITY("\"system_paths\":\"allow\""), "expected one of keep, deny"},
        {SECURITY("\"realtime\":true"), "expected a string"},
        {SECURITY("\"realtime\":\"keep\""), "expected one of allow, deny"},
        {SECURITY("\"capabilities\":{\"max\":[\"SYS_ADMN\"]}"),
         "there is no capability 'SYS_ADMN'"},
        {SECURITY("\"seccomp\":{\"deny\":[\"munt\"]}"), "there is no system call 'munt'"},
        {SECURITY("\"seccomp\":{\"profile\":\"x\"}"), "not a clean absolute path"},
        {SECURITY("\"namespaces\":{\"host\":[\"network\"]}"), "expected one of pid, net"},
        {SECURITY("\"namespaces\":{\"require\":[\"pid\"]}"), "expected one of cgroup, user"},
        {SECURITY("\"devices\":{\"allow\":[\"/dev/*/x\"]}"), "only in its last part"},
        {SECURITY("\"cgroups\":{\"parents\":\"/docker\"}"), "expected an array"},
        {SECURITY("\"user\":{\"rot\":\"deny\"}"), "did you mean \"root\"?"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct err err = shim_policy_error(rows[i].text);
        assert_int_equal(err.kind, ERR_POLICY);
        assert_contains(err.msg, rows[i].message);
    }
}

UNIT_SUITE(test_security)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_privileged),
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_console),
        cmocka_unit_test(test_system_paths),
        cmocka_unit_test(test_covers_of_nothing),
        cmocka_unit_test(test_namespaces),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_missing_rules),
        cmocka_unit_test(test_annotations_and_hooks),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_a_listener_for_system_calls),
        cmocka_unit_test(test_calls_that_a_filter_fakes),
        cmocka_unit_test(test_capabilities_are_taken_away),
        cmocka_unit_test(test_no_new_privileges),
        cmocka_unit_test(test_capability_names),
        cmocka_unit_test(test_policies_that_are_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
