/* The places at which mounts of users are refused. */
#include "tests/unit/shim/gather/binds_unit.h"

static struct result judged_target(const char *target, const char *type, const char *options)
{
    struct bind_source sources[] = {plain};
    struct bind_facts facts = {.sources = sources};
    struct result r;
    _cleanup_free_ char *mount = strf("{\"destination\":\"%s\",\"type\":\"%s\",\"source\":\"/s\","
                                      "\"options\":[%s]}",
                                      target, type, options);

    if (!*options && strcmp(type, "bind") != 0)
        sources[0] = (struct bind_source){0};
    judge_with(policy_text, &facts, mount, &r);
    free(r.config);
    r.config = NULL;
    return r;
}

static void test_targets(void **state)
{
    static const struct {
        const char *target;
        bool denied;
    } rows[] = {
        {"/", true},           {"/proc", true},
        {"/proc/self/", true}, {"/processes", false},
        {"/dev/../dev", true}, {"/dev/shm", true},
        {"/dev/null", true},   {"/etc", true},
        {"/etc/hosts", false}, {"/etc/ld.so.preload", true},
        {"/work", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct result r = judged_target(rows[i].target, "bind", "\"nosuid\",\"nodev\"");
        if (rows[i].denied != (r.verdict == PLAN_DENIED))
            fail_msg("%s: %d, %s", rows[i].target, r.verdict, r.reason);
    }
    assert_contains(judged_target("/proc/1", "bind", "").message,
                    "nothing may be mounted over /proc");
}

/* In /dev, engines bind files of their own, and with --ipc=host those of the host. */
static void test_binds_of_engines_in_dev(void **state)
{
    static const char shm[] =
        "{\"destination\":\"/dev/shm\",\"type\":\"bind\",\"source\":\"/s\",\"options\":[\"bind\"]}";
    struct bind_source own = plain, open = plain, host = plain;
    struct bind_source *const sources[] = {&own, &open, &host};

    (void)state;
    own.own = true;
    open.open = true;
    host.path = host.found = "/dev/shm";
    for (size_t i = 0; i < 3; i++) {
        struct bind_facts facts = {.sources = sources[i]};
        struct result r;
        judge_with(policy_text, &facts, shm, &r);
        free(r.config);
        if (strstr(r.message, "nothing may be mounted"))
            fail_msg("%zu: %s", i, r.message);
    }
}

static void test_the_engines_mounts_are_left_alone(void **state)
{
    (void)state;
    assert_false(judged_target("/proc", "proc", "").any);
    assert_false(judged_target("/dev", "tmpfs", "\"nosuid\",\"mode=755\",\"size=65536k\"").any);
    assert_false(judged_target("/sys/fs/cgroup", "cgroup", "").any);
    assert_false(judged_target("/dev/pts", "devpts", "").any);
    assert_false(judged_target("/dev/shm", "tmpfs", "").any);
    assert_false(judged_target("/sys/fs/cgroup/cpu", "cgroup", "").any);
    assert_false(judged_target("/run", "tmpfs", "").any);
    assert_false(judged_target("/scratch", "tmpfs", "").any);
    assert_true(judged_target("/proc", "proc", "\"bind\"").any);
    assert_true(judged_target("/x", "tmpfs", "\"remount\"").any);
    assert_contains(judged_target("/x", "overlay", "").message, "of type 'overlay'");
}

/* --tmpfs, and the mounts of ctr. */
static void test_kernels_file_systems_on_denied_targets(void **state)
{
    static const struct {
        const char *target, *type;
    } rows[] = {
        {"/proc", "tmpfs"},
        {"/proc/self/attr", "tmpfs"},
        {"/dev/x", "tmpfs"},
        {"/etc", "tmpfs"},
        {"/etc/ld.so.preload", "tmpfs"},
        {"/dev/", "devpts"},
        {"/proc/sys", "proc"},
        {"/", "tmpfs"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct result r = judged_target(rows[i].target, rows[i].type, "");
        if (r.verdict != PLAN_DENIED)
            fail_msg("%s on %s: %d, %s", rows[i].type, rows[i].target, r.verdict, r.reason);
        assert_contains(r.message, "nothing may be mounted over /");
    }
}

/* A tmpfs on /dev is the engine's if it is root's alone, as all engines write it. */
static void test_a_tmpfs_of_the_user_on_dev(void **state)
{
    static const char *const options[] = {
        "",
        "\"noexec\",\"nosuid\",\"nodev\"", /* docker run --tmpfs /dev */
        "\"mode=1777\"",
        "\"mode=755\",\"mode=777\"",
        "\"mode=755\",\"uid=1000\"",
        "\"mode=755\",\"gid=1000\"",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (judged_target("/dev", "tmpfs", options[i]).verdict != PLAN_DENIED)
            fail_msg("%s", options[i]);
    assert_false(judged_target("/dev", "tmpfs", "\"mode=1777\",\"mode=0755\"").any);
}

UNIT_SUITE(test_binds_targets)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_binds_of_engines_in_dev),
        cmocka_unit_test(test_the_engines_mounts_are_left_alone),
        cmocka_unit_test(test_kernels_file_systems_on_denied_targets),
        cmocka_unit_test(test_a_tmpfs_of_the_user_on_dev),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
