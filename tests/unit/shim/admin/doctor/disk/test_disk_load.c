/* The load of a disk between two texts of /proc/diskstats. */
#include "tests/unit/lib/unit.h"

#include "shim/admin/doctor/disk/disk_load.h"

#include <sys/sysmacros.h>

static const char before[] =
    "   8       0 sda 100 0 800 50 200 0 1600 150 0 1000 200 0 0 0 0 0 0\n"
    "   8       1 sda1 10 0 80 5 20 0 160 15 0 100 20\n"
    " 259       0 nvme0n1 4294967290 0 0 4294967290 0 0 0 0 0 4294967000 0\n"
    "   8      16 sdb 1 2 3\n";
static const char after[] = "   8       0 sda 110 0 880 350 230 0 1840 250 0 2800 600 0 0 0 0 0 0\n"
                            "   8       1 sda1 10 0 80 5 20 0 160 15 0 100 20\n"
                            " 259       0 nvme0n1 4294967294 0 0 6 0 0 0 0 0 1000 0\n"
                            "   8      16 sdb 1 2 3\n";

static void is(unsigned most, unsigned least, uint64_t requests, double await, double busy)
{
    struct disk_load load;

    assert_true(disk_load_between(before, after, 2, makedev(most, least), &load));
    assert_int_equal(load.requests, requests);
    assert_float_equal(load.await, await, 0.001);
    assert_float_equal(load.busy, busy, 0.001);
}

static void test_load(void **state)
{
    (void)state;
    is(8, 0, 40, 10, 90);   /* 400 ms for 40 requests, 1800 of 2000 ms */
    is(8, 1, 0, 0, 0);      /* nothing to do */
    is(259, 0, 4, 3, 64.8); /* milliseconds have 32 bits and begin anew */
}

static void test_busy_at_most_100(void **state)
{
    struct disk_load load;

    (void)state;
    assert_true(disk_load_between(before, after, 1, makedev(8, 0), &load));
    assert_float_equal(load.busy, 100, 0.001);
}

static void test_unknown(void **state)
{
    struct disk_load load;

    (void)state;
    assert_false(disk_load_between(before, after, 2, makedev(8, 16), &load)); /* too few fields */
    assert_false(disk_load_between(before, after, 2, makedev(8, 32), &load));
    assert_false(disk_load_between(before, "", 2, makedev(8, 0), &load));
    assert_false(disk_load_between(before, after, 0, makedev(8, 0), &load));
}

UNIT_SUITE(test_disk_load)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_busy_at_most_100),
        cmocka_unit_test(test_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
