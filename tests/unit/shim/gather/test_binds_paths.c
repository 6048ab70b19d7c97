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

static const char volumes_text[] =
    "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "2 1 0:40 / /d/volumes/proc/_data rw - proc proc rw\n"
    "3 1 0:40 /sys /d/tmp/part rw - proc proc rw\n"
    "4 1 8:1 /home/alice /d/volumes/bind/_data rw,relatime - ext4 /dev/sda1 rw\n"
    "5 1 8:1 /home/alice /d/volumes/map/_data rw,idmapped - ext4 /dev/sda1 rw\n"
    "6 1 8:1 /home/alice/x /d/tmp/mapped rw,relatime,idmapped - ext4 /dev/sda1 rw\n"
    "7 1 0:41 / /d/volumes/memory/_data rw - tmpfs t rw\n"
    "8 1 8:9 / /home/bob rw,idmapped shared:4 - ext4 /dev/sdb1 rw\n"
    "9 1 0:42 / /over rw - overlay o rw\n";

/* A mount by its number, and the name of what is in it. */
static void test_file_systems_that_a_volume_asks_for(void **state)
{
    static const struct {
        int id;
        const char *name, *point; /* of the mount that is found; NULL: none */
    } rows[] = {
        {2, "/d/volumes/proc/_data", "/d/volumes/proc/_data"},
        {2, "/d/volumes/proc/_data/1", "/d/volumes/proc/_data"},
        {3, "/d/volumes/proc/_data/sys", "/d/volumes/proc/_data"},
        {4, "/home/alice", NULL},
        {5, "/home/alice", "/d/volumes/map/_data"},
        {6, "/home/alice/x", "/d/volumes/map/_data"},
        {7, "/d/volumes/memory/_data", NULL},
        {8, "/home/bob", NULL},
        {9, "/over/x", "/over"},
    };
    const struct engine_directories engine = {.volumes = {"/d/volumes"}};
    _cleanup_arena_ struct arena arena = {0};
    struct mount_table table;
    struct err err = ERR_INIT;

    (void)state;
    assert_works(mount_table_parse(volumes_text, &arena, &table, &err), err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct mount_entry *found =
            binds_find_opaque(&engine, &table, mount_table_find(&table, rows[i].id), rows[i].name);
        assert_int_equal(found != NULL, rows[i].point != NULL);
        if (found)
            assert_string_equal(found->point, rows[i].point);
    }
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
        cmocka_unit_test(test_file_systems_that_a_volume_asks_for),
        cmocka_unit_test(test_policies_that_are_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
