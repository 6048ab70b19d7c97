#include "flatten/command/squash/progress.h"

#include "tests/unit/lib/unit.h"

static void check(uint64_t done, uint64_t total, double seconds, const char *expected)
{
    _cleanup_buf_ struct buf line = BUF_INIT;

    progress_line(done, total, seconds, &line);
    assert_string_equal(line.data, expected);
}

static void test_line(void **state)
{
    (void)state;
    check(0, 4000000000, 0, "  0 %  0.00 of 4.00 GB");
    check(100000000, 4000000000, 0.5, "  2 %  0.10 of 4.00 GB"); /* too early for a rate */
    check(1000000000, 4000000000, 2, " 25 %  1.00 of 4.00 GB  500 MB/s  0:06 left");
    check(1000000, 4000000000, 2, "  0 %  0.00 of 4.00 GB  0 MB/s  133:18 left");
    check(4000000000, 4000000000, 8, "100 %  4.00 of 4.00 GB  500 MB/s  0:00 left");
    check(5000000000, 4000000000, 10, "100 %  4.00 of 4.00 GB  500 MB/s  0:00 left");
    check(0, 0, 3, "100 %  0.00 of 0.00 GB");
}

UNIT_SUITE(test_progress)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_line)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
