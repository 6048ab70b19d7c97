/* Mount tables as texts: the file system of a path, behind binds and volumes. */
#include "tests/unit/lib/unit.h"

#include "shim/mount/mount_table.h"

static const char table_text[] =
    "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "2 1 0:5 / /dev rw - devtmpfs udev rw\n"
    "3 1 8:17 / /disk1 rw shared:3 - ext4 /dev/sdb1 rw\n"
    "4 1 8:17 /data /srv/data rw - ext4 /dev/sdb1 rw\n"
    "5 1 8:1 /etc /var/lib/docker/volumes/v/_data rw - ext4 /dev/sda1 rw\n"
    "6 1 8:1 / /mnt/again rw - ext4 /dev/sda1 rw\n"
    "7 1 0:40 /@home /home rw - btrfs /dev/sdc rw\n"
    "8 1 0:41 / /with\\040blank rw - tmpfs t rw\n"
    "9 1 8:99 /only/part /part rw - ext4 /dev/sdd rw\n"
    "10 1 0:50 / /vol rw shared:1 master:2 - overlay o rw\n"
    "11 1 0:51 / / rw - overlay o rw\n";

static void assert_named(int id, const char *path, const char *expected)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct mount_table table;
    struct err err = ERR_INIT;

    assert_works(mount_table_parse(table_text, &arena, &table, &err), err);
    bool found = mount_table_name(&table, id, path, &out);
    assert_int_equal(found, expected != NULL);
    if (expected)
        assert_string_equal(out.data, expected);
}

static void test_names(void **state)
{
    (void)state;
    assert_named(1, "/etc/passwd", "/etc/passwd");
    assert_named(1, "/", "/");
    assert_named(4, "/srv/data/imagenet", "/disk1/data/imagenet");
    assert_named(4, "/srv/data", "/disk1/data");
    assert_named(5, "/var/lib/docker/volumes/v/_data", "/etc");
    assert_named(5, "/var/lib/docker/volumes/v/_data/shadow", "/etc/shadow");
    assert_named(6, "/mnt/again", "/");
    assert_named(6, "/mnt/again/etc", "/etc");
    assert_named(7, "/home/alice", "/home/alice");
    assert_named(8, "/with blank/x", "/with blank/x");
    assert_named(9, "/part/x", "/part/x");
}

static void test_what_the_table_does_not_have(void **state)
{
    (void)state;
    assert_named(77, "/etc", NULL);
    assert_named(4, "/srv/other", NULL);
}

static void test_beneath(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct mount_table table;
    struct err err = ERR_INIT;

    (void)state;
    assert_works(mount_table_parse(table_text, &arena, &table, &err), err);
    assert_true(mount_table_beneath(&table, "/"));
    assert_true(mount_table_beneath(&table, "/srv"));
    assert_false(mount_table_beneath(&table, "/srv/data"));
    assert_false(mount_table_beneath(&table, "/srv/dat"));
    assert_string_equal(mount_table_over(&table, "/srv/data/x/y"), "/srv/data");
    assert_string_equal(mount_table_over(&table, "/srv/data"), "/srv/data");
    assert_null(mount_table_over(&table, "/srv/data2"));
}

static void test_find(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct mount_table table;
    struct err err = ERR_INIT;

    (void)state;
    assert_works(mount_table_parse(table_text, &arena, &table, &err), err);
    assert_string_equal(mount_table_find(&table, 10)->point, "/vol");
    assert_string_equal(mount_table_find(&table, 10)->type, "overlay");
    assert_null(mount_table_find(&table, 77));
}

static void test_no_table(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct mount_table table;
    struct err err = ERR_INIT;

    (void)state;
    assert_works(mount_table_parse("", &arena, &table, &err), err);
    assert_fails(mount_table_parse("hello\n", &arena, &table, &err), err, ERR_FORMAT);
    assert_works(mount_table_read(&arena, &table, &err), err);
    assert_true(table.count > 0);
}

UNIT_SUITE(test_mount_table)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),    cmocka_unit_test(test_what_the_table_does_not_have),
        cmocka_unit_test(test_beneath),  cmocka_unit_test(test_find),
        cmocka_unit_test(test_no_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
