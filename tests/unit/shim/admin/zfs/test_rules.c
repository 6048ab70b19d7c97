#include "tests/unit/lib/unit.h"

#include "shim/admin/zfs/names.h"
#include "shim/admin/zfs/rows.h"
#include "shim/admin/zfs/rules.h"

#include <string.h>

/* ---- names ---- */

static void test_names(void **state)
{
    static const char *const datasets[] = {"tank", "tank/a b/c.d_e:f-g", "T/-x",
                                           "rpool/ROOT/debian"};
    static const char *const others[] = {"",       "-r",     "/tank", "tank/", "tank//a",
                                         "tank@a", "a/../b", "a/./b", "1tank", "tank\n",
                                         "a;b",    "a%b",    "a/\tb"};

    (void)state;
    for (size_t i = 0; i < sizeof(datasets) / sizeof(*datasets); i++)
        assert_true(zfs_dataset_valid(datasets[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(zfs_dataset_valid(others[i]));
}

static void test_long_names(void **state)
{
    char name[300];

    (void)state;
    memset(name, 'a', sizeof(name));
    name[255] = '\0';
    assert_true(zfs_dataset_valid(name));
    assert_false(zfs_snapshot_valid(name));
    name[255] = 'a';
    name[256] = '\0';
    assert_false(zfs_dataset_valid(name));
    name[100] = '\0';
    assert_true(zfs_snapshot_valid(name));
}

static void test_snapshot_names(void **state)
{
    (void)state;
    assert_true(zfs_snapshot_valid("torch-2.7:gpu_1"));
    assert_true(zfs_snapshot_valid("2025"));
    assert_false(zfs_snapshot_valid("-r"));
    assert_false(zfs_snapshot_valid(".."));
    assert_false(zfs_snapshot_valid(".hidden"));
    assert_false(zfs_snapshot_valid(""));
    assert_false(zfs_snapshot_valid("a b"));
    assert_false(zfs_snapshot_valid("a@b"));
    assert_false(zfs_snapshot_valid("a/b"));
}

/* ---- rows ---- */

static int parse(const char *text, struct arena *arena, struct zfs_rows *rows)
{
    struct err err = ERR_INIT;

    return zfs_rows_parse(text, strlen(text), arena, rows, &err);
}

static void test_rows(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct zfs_rows rows;

    (void)state;
    assert_int_equal(parse("", &arena, &rows), 0);
    assert_int_equal(rows.count, 0);
    assert_int_equal(parse("a b\tused\t12\na b@v\tused\t-\n", &arena, &rows), 0);
    assert_int_equal(rows.count, 2);
    assert_string_equal(zfs_rows_value(&rows, "a b", "used"), "12");
    assert_string_equal(zfs_rows_value(&rows, "a b@v", "used"), "-");
    assert_null(zfs_rows_value(&rows, "a", "used"));
    assert_int_equal(parse("a\tused\n", &arena, &rows), -1);
    assert_int_equal(parse("a\tused\t1\tx\n", &arena, &rows), -1);
    assert_int_equal(parse("a\t\t1\n", &arena, &rows), -1);
    assert_int_equal(parse("a\tused\t1\n\n", &arena, &rows), -1);
}

static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(zfs_number("131072"), 131072);
    assert_true(zfs_number("18446744073709551615") == UINT64_MAX);
    assert_int_equal(zfs_number("18446744073709551616"), 0);
    assert_int_equal(zfs_number("12x"), 0);
    assert_int_equal(zfs_number("-1"), 0);
    assert_int_equal(zfs_number("none"), 0);
    assert_int_equal(zfs_number(NULL), 0);
    assert_int_equal(zfs_dedup_entries("x\n dedup: DDT entries 77, size 1B on disk\n"), 77);
    assert_int_equal(zfs_dedup_entries(" dedup: no DDT entries\n"), 0);
}

/* ---- rules ---- */

static const struct zfs_dataset right = {.name = "t",
                                         .compression = "lz4",
                                         .atime = "off",
                                         .xattr = "sa",
                                         .dedup = "off",
                                         .dnodesize = "auto",
                                         .recordsize = 128 << 10};

/* Returns the weight of a property of the dataset, or -1 if it is not judged. */
static int weigh(struct zfs_dataset dataset, enum zfs_use use, const char *property)
{
    _cleanup_arena_ struct arena arena = {0};
    struct zfs_judgement out[ZFS_RULES] = {0};
    int count = zfs_judge(&dataset, use, &arena, out);

    for (int i = 0; i < count; i++)
        if (strcmp(out[i].property, property) == 0)
            return (int)out[i].weight;
    return -1;
}

static void test_records(void **state)
{
    struct zfs_dataset d = right;

    (void)state;
    assert_int_equal(weigh(d, ZFS_IMAGES, "recordsize"), ZFS_RIGHT);
    assert_int_equal(weigh(d, ZFS_MODELS, "recordsize"), ZFS_WORTH);
    assert_int_equal(weigh(d, ZFS_SCRATCH, "recordsize"), ZFS_RIGHT);
    d.recordsize = 1 << 20;
    assert_int_equal(weigh(d, ZFS_IMAGES, "recordsize"), ZFS_WORTH);
    assert_int_equal(weigh(d, ZFS_MODELS, "recordsize"), ZFS_RIGHT);
    assert_int_equal(weigh(d, ZFS_DATASETS, "recordsize"), ZFS_RIGHT);
    d.recordsize = 8 << 10;
    assert_int_equal(weigh(d, ZFS_LOGS, "recordsize"), ZFS_WORTH);
    d.recordsize = 0;
    assert_int_equal(weigh(d, ZFS_LOGS, "recordsize"), -1);
}

static void test_words(void **state)
{
    struct zfs_dataset d = right;

    (void)state;
    assert_int_equal(weigh(d, ZFS_IMAGES, "xattr"), ZFS_RIGHT);
    d.xattr = "on";
    assert_int_equal(weigh(d, ZFS_IMAGES, "xattr"), ZFS_WORTH);
    assert_int_equal(weigh(d, ZFS_MODELS, "xattr"), -1);
    d.xattr = "off";
    assert_int_equal(weigh(d, ZFS_IMAGES, "xattr"), ZFS_BROKEN);
    d.atime = "on";
    assert_int_equal(weigh(d, ZFS_LOGS, "atime"), ZFS_WORTH);
    d.relatime = "on";
    assert_int_equal(weigh(d, ZFS_LOGS, "atime"), ZFS_RIGHT);
    d.compression = "zstd-9";
    assert_int_equal(weigh(d, ZFS_MODELS, "compression"), ZFS_RIGHT);
    d.compression = "off";
    assert_int_equal(weigh(d, ZFS_MODELS, "compression"), ZFS_WORTH);
    d.dnodesize = "legacy";
    assert_int_equal(weigh(d, ZFS_IMAGES, "dnodesize"), ZFS_WORTH);
    d.dnodesize = NULL;
    assert_int_equal(weigh(d, ZFS_IMAGES, "dnodesize"), -1);
}

/* Without entries of the pool, each record that is in use is one: 1 GiB of 128 KiB is 8192. */
static void test_dedup(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    struct zfs_judgement out[ZFS_RULES] = {0};
    struct zfs_dataset d = right;

    (void)state;
    assert_int_equal(weigh(d, ZFS_MODELS, "dedup"), ZFS_RIGHT);
    d.dedup = "sha256,verify";
    d.used = (1 << 30) - 1;
    int count = zfs_judge(&d, ZFS_MODELS, &arena, out);
    assert_int_equal(out[count - 1].weight, ZFS_COSTLY);
    assert_non_null(strstr(out[count - 1].why, "at least 8192 entries of about 320 bytes: 2.6 MB"));
    d.dedup_entries = 1000000;
    count = zfs_judge(&d, ZFS_MODELS, &arena, out);
    assert_non_null(strstr(out[count - 1].why, "has 1000000 entries of about 320 bytes: 320.0 MB"));
}

static void test_uses(void **state)
{
    enum zfs_use use;

    (void)state;
    assert_int_equal(zfs_guess_use("hub /tank/Models", false), ZFS_MODELS);
    assert_int_equal(zfs_guess_use("imagenet /srv/datasets/x", true), ZFS_DATASETS);
    assert_int_equal(zfs_guess_use("run /srv/logs", false), ZFS_LOGS);
    assert_int_equal(zfs_guess_use("x /srv/x", true), ZFS_DATASETS);
    assert_int_equal(zfs_guess_use("x /srv/x", false), ZFS_SCRATCH);
    assert_string_equal(zfs_parse_use("logs=/x=y", &use), "/x=y");
    assert_int_equal(use, ZFS_LOGS);
    assert_null(zfs_parse_use("/x", &use));
    assert_null(zfs_parse_use("logsx=/x", &use));
}

UNIT_SUITE(test_rules)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_snapshot_names),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_records),
        cmocka_unit_test(test_words),   cmocka_unit_test(test_dedup),
        cmocka_unit_test(test_uses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
