#include "base/rfc3339.h"
#include "tests/unit/lib/unit.h"

/* Times that GNU date printed with +%s.%N. */
static void test_times(void **state)
{
    static const struct {
        const char *text;
        time_t seconds;
        long nanoseconds;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0, 0},
        {"2026-01-31T12:00:00Z", 1769860800, 0},
        {"2026-01-31T12:00:00.5Z", 1769860800, 500000000},
        {"2026-01-31T12:00:00.123456789123Z", 1769860800, 123456789},
        {"2026-01-31T12:00:00+02:00", 1769853600, 0},
        {"2024-02-29T23:59:59-11:30", 1709292599, 0},
    };
    struct timespec at;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_true(rfc3339_parse(rows[i].text, &at));
        assert_int_equal(at.tv_sec, rows[i].seconds);
        assert_int_equal(at.tv_nsec, rows[i].nanoseconds);
    }
}

static void test_other_texts(void **state)
{
    static const char *const bad[] = {
        "",
        "2026-01-31",
        "2026-01-31 12:00:00Z",
        "2026-01-31T12:00:00",
        "2026-13-31T12:00:00Z",
        "2026-01-31T25:00:00Z",
        "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:00+02:60",
        "2026-01-31T12:00:00Z ",
    };
    struct timespec at = {.tv_sec = 7};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(rfc3339_parse(bad[i], &at));
    assert_int_equal(at.tv_sec, 7);
}

UNIT_SUITE(test_rfc3339)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_other_texts),
    };
    return cmocka_run_group_tests_name("rfc3339", tests, NULL, NULL);
}
