#include "flatten/analyze/zfs/zfs_plan.h"
#include "tests/unit/lib/unit.h"

static struct zfs_dir dir(uint64_t bytes, uint64_t large, double lz4, double zstd)
{
    struct zfs_dir d = {.bytes = bytes, .large = large, .records = 100};

    d.sums = (struct zfs_sums){
        .records = 100,
        .logical = bytes,
        .physical = {(uint64_t)((double)bytes / lz4), (uint64_t)((double)bytes / zstd)}};
    return d;
}

static void check(struct zfs_dir d, size_t recordsize, enum zfs_compression compression)
{
    struct zfs_choice c = zfs_choose(&d);

    assert_int_equal(c.recordsize, recordsize);
    assert_int_equal(c.compression, compression);
}

static void test_choose(void **state)
{
    enum { SMALL = 128 << 10, LARGE = 1 << 20 };
    struct zfs_dir d;

    (void)state;
    check(dir(1000000, 0, 1.0, 1.0), SMALL, ZFS_USE_OFF);
    check(dir(1000000, 0, 1.0, 1.04), SMALL, ZFS_USE_OFF);
    check(dir(1000000, 0, 1.0, 1.06), SMALL, ZFS_USE_LZ4);
    check(dir(1000000, 600000, 1.0, 1.3), LARGE, ZFS_USE_ZSTD);
    check(dir(1000000, 400000, 2.0, 2.1), SMALL, ZFS_USE_LZ4);
    check(dir(1000000, 1000000, 1.0, 1.0), LARGE, ZFS_USE_OFF);
    /* Padding counts only with "off": compression removes it. */
    d = dir(1000000, 1000000, 1.0, 1.0);
    d.padding = 60000;
    check(d, SMALL, ZFS_USE_OFF);
    d = dir(1000000, 1000000, 2.0, 3.0);
    d.padding = 60000;
    check(d, LARGE, ZFS_USE_ZSTD);
    /* A small or uncertain sample never recommends "off". */
    d = dir(1000000, 0, 1.0, 1.0);
    d.sums.records = 3;
    check(d, SMALL, ZFS_USE_LZ4);
    d = dir(1000000, 0, 1.0, 1.0);
    d.records = 1000000;
    d.sums.squares[ZFS_ZSTD] = 1e12; /* each record 10 kB, give or take 100 kB */
    check(d, SMALL, ZFS_USE_LZ4);
}

static void test_words(void **state)
{
    struct zfs_dataset d = {.dir = dir(1000000, 0, 2.0, 3.0),
                            .choice = {128 << 10, ZFS_USE_ZSTD},
                            .name = (char *)(uintptr_t) "tank/x"};
    struct dedup_report once = {.records = 4, .bytes = 400, .entries = 3, .unique = 300};
    struct dedup_report twice = {.records = 4, .bytes = 400, .entries = 2, .unique = 200};
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    zfs_plan_put_command(&d, NULL, &out);
    assert_string_equal(out.data, "zfs create -p -o recordsize=128K -o compression=zstd tank/x");
    buf_truncate(&out, 0);
    zfs_plan_put_command(&d, &once, &out);
    assert_non_null(strstr(out.data, " -o dedup=off tank/x"));
    buf_truncate(&out, 0);
    zfs_plan_put_command(&d, &twice, &out);
    assert_non_null(strstr(out.data, " -o dedup=on tank/x"));
    buf_truncate(&out, 0);
    zfs_plan_put_dedup_reason(&once, &out);
    assert_non_null(strstr(out.data, "dedup=off: it would store 100 B less of 400 B (1.33 times)"));
    assert_non_null(strstr(out.data, "960 B of memory"));
}

UNIT_SUITE(test_zfs_plan)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
