#include "flatten/analyze/zfs/zfs.h"
#include "tests/unit/lib/unit.h"

enum { RECORD = 128 * 1024 };

static void fill_noise(unsigned char *data, size_t len)
{
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < len; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        data[i] = (unsigned char)(x >> 32);
    }
}

static struct zfs_sums sums_of(const void *data, size_t len, bool only)
{
    struct err err = ERR_INIT;
    _cleanup_zfs_ struct zfs *z = zfs_new(RECORD, &err);
    struct zfs_sums sums = {0};

    assert_non_null(z);
    assert_works(zfs_add(z, data, len, only, &sums, &err), err);
    return sums;
}

static void check(const struct zfs_sums *s, uint64_t logical, uint64_t physical)
{
    assert_int_equal(s->logical, logical);
    assert_int_equal(s->physical[ZFS_LZ4], physical);
    assert_int_equal(s->physical[ZFS_ZSTD], physical);
}

static void test_records(void **state)
{
    static unsigned char data[RECORD];
    struct zfs_sums s;

    (void)state;
    s = sums_of(data, RECORD, false);
    check(&s, RECORD, 0); /* a hole */
    memset(data, 'a', sizeof(data));
    s = sums_of(data, RECORD, false);
    check(&s, RECORD, ZFS_SECTOR);
    s = sums_of(data, 1000, true);
    check(&s, 1024, 1024); /* a record of two sectors keeps its size */
    s = sums_of(data, 8192, true);
    check(&s, 8192, ZFS_SECTOR);
    s = sums_of(data, 1000, false);
    check(&s, RECORD, ZFS_SECTOR); /* the tail of a longer file: padded */
    fill_noise(data, sizeof(data));
    s = sums_of(data, RECORD, false);
    check(&s, RECORD, RECORD);
    s = sums_of(data, 5000, true);
    check(&s, 5120, 5120);
    s = sums_of(data, RECORD / 2, false);
    check(&s, RECORD, RECORD / 2 + ZFS_SECTOR); /* noise, and zeros with a few bytes of overhead */
    /* Compression that saves less than an eighth is dropped: noise with a tail of zeros. */
    memset(data + RECORD - RECORD / 10, 0, RECORD / 10);
    s = sums_of(data, RECORD, false);
    check(&s, RECORD, RECORD);
}

static void test_ratio(void **state)
{
    struct zfs_sums s = {.records = 2, .logical = 200, .physical = {100, 50}};
    struct zfs_sums none = {0};

    (void)state;
    assert_true(zfs_ratio(&s, ZFS_LZ4) == 2);
    assert_true(zfs_ratio(&s, ZFS_ZSTD) == 4);
    assert_true(zfs_ratio(&none, ZFS_LZ4) == 1);
}

/* The error is 0 if all records were sampled, or all are equal. */
static void test_error(void **state)
{
    struct zfs_sums alike = {0}, mixed = {0};

    (void)state;
    for (int i = 0; i < 100; i++) {
        struct zfs_sums one = {.records = 1, .logical = 10, .physical = {5}, .squares = {25}};
        one.products[ZFS_LZ4] = 50;
        one.logical_squares = 100;
        zfs_sums_add(&alike, &one);
        one.physical[ZFS_LZ4] = i % 2 ? 10 : 2;
        one.squares[ZFS_LZ4] = i % 2 ? 100 : 4;
        one.products[ZFS_LZ4] = i % 2 ? 100 : 20;
        zfs_sums_add(&mixed, &one);
    }
    assert_true(zfs_error(&mixed, ZFS_LZ4, 100) == 0);
    assert_true(zfs_error(&alike, ZFS_LZ4, 1000000) < 1e-9);
    /* mean 6, deviation 4.02, of 100: 1.96 * 0.402 / 6 */
    double error = zfs_error(&mixed, ZFS_LZ4, 100000000);
    assert_true(error > 0.1312 && error < 0.1314);
}

static void test_parse(void **state)
{
    static const char *const bad[] = {"",    "x",     "0",   "3K", "2K",
                                      "32M", "128KB", "-4K", "4G", "99999999999K"};
    struct err err = ERR_INIT;
    size_t record;

    (void)state;
    assert_works(zfs_parse_record("128K", &record, &err), err);
    assert_int_equal(record, RECORD);
    assert_works(zfs_parse_record("1M", &record, &err), err);
    assert_int_equal(record, 1 << 20);
    assert_works(zfs_parse_record("4096", &record, &err), err);
    assert_int_equal(record, 4096);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_fails(zfs_parse_record(bad[i], &record, &err), err, ERR_USAGE);
}

UNIT_SUITE(test_zfs)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_parse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
