/* Paths of binds as values: programs for init, pinned sources, the policy's rules. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/gather/binds_mounts.h"

static void test_programs_for_init(void **state)
{
    (void)state;
    assert_true(binds_is_init("/usr/bin/docker-init"));
    assert_true(binds_is_init("/usr/libexec/podman/catatonit"));
    assert_false(binds_is_init("/usr/bin/passwd"));
    assert_false(binds_is_init("/home/tini"));
}

static void test_pinned_paths(void **state)
{
    (void)state;
    assert_string_equal(binds_unpinned("/run/flatbed/pin/bind:12/home/a"), "/home/a");
    assert_string_equal(binds_unpinned("/run/flatbed/pin/bind:0/"), "/");
    assert_null(binds_unpinned("/run/flatbed/pin/bind:/home/a"));
    assert_null(binds_unpinned("/run/flatbed/pin/bind:1/../etc"));
    assert_null(binds_unpinned("/run/flatbed/pin/data:x"));
    assert_null(binds_unpinned("/etc"));
}

#define BINDS(text) "{\"version\":1,\"binds\":{" text "}}"

static void test_policies_that_are_wrong(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {BINDS("\"default\":\"rw\""), "'rw': expected one of allow, ro, deny"},
        {BINDS("\"rules\":{}"), "expected an array"},
        {BINDS("\"rules\":[{\"path\":\"/x\"}]"), "there is no \"access\""},
        {BINDS("\"rules\":[{\"access\":\"ro\"}]"), "there is no \"path\""},
        {BINDS("\"rules\":[{\"path\":\"x\",\"access\":\"ro\"}]"), "not an absolute path"},
        {BINDS("\"rules\":[{\"path\":\"/{name}\",\"access\":\"ro\"}]"), "{name} cannot be used"},
        {BINDS("\"rules\":[{\"path\":\"/\",\"access\":\"ro\",\"options\":[\"suid\"]}]"),
         "expected one of nosuid, nodev, noexec"},
        {BINDS("\"targets_deny\":[\"/proc/\"]"), "not a clean absolute path"},
        {BINDS("\"ruls\":[]"), "did you mean \"rules\"?"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct err err = shim_policy_error(rows[i].text);
        assert_int_equal(err.kind, ERR_POLICY);
        assert_contains(err.msg, rows[i].message);
    }
}

UNIT_SUITE(test_binds_paths)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_for_init),
        cmocka_unit_test(test_pinned_paths),
        cmocka_unit_test(test_policies_that_are_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
