#include "flatten/command/squash/timestamp.h"
#include "tests/unit/lib/unit.h"

static void check(const char *text, const char *expected)
{
    char out[TIMESTAMP_SIZE];
    struct err err = ERR_INIT;

    if (timestamp_choose(text, out, &err) != 1)
        fail_msg("%s: %s", text ? text : "no text", err.msg);
    assert_string_equal(out, expected);
}

static void test_rfc_3339_stays_as_it_is(void **state)
{
    static const char *const good[] = {
        "2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00.123456789Z",
        "2026-01-31T12:00:00+02:00",
        "2024-02-29T23:59:59-11:30",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        check(good[i], good[i]);
}

static void test_seconds(void **state)
{
    (void)state;
    check("0", "1970-01-01T00:00:00Z");
    check("1580608922", "2020-02-02T02:02:02Z");
    check("253402300799", "9999-12-31T23:59:59Z");
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "now",
        "-1",
        " 1",
        "1.5",
        "253402300800",
        "99999999999999999999",
        "2026-01-31",
        "2026-01-31 12:00:00Z",
        "2026-01-31T12:00:00",
        "2026-13-31T12:00:00Z",
        "2026-01-31T25:00:00Z",
        "2026-01-31T12:00:00ZZ",
        "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00+02:00x",
        "2026-01-31T12:00:00 Z",
        "2026-01-31T12:00:00+0200",
        "2026-1-31T12:00:00Z",
        "2026-01-31T12:00:00.000000000000000000000000000000000000000000000000000000Z",
    };
    char out[TIMESTAMP_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct err err = ERR_INIT;
        if (timestamp_choose(bad[i], out, &err) != -1)
            fail_msg("'%s' is taken", bad[i]);
        assert_int_equal(err.kind, ERR_USAGE);
    }
}

static void test_source_date_epoch(void **state)
{
    char out[TIMESTAMP_SIZE];
    struct err err = ERR_INIT;

    (void)state;
    unsetenv("SOURCE_DATE_EPOCH");
    assert_int_equal(timestamp_choose(NULL, out, &err), 0);
    setenv("SOURCE_DATE_EPOCH", "1580608922", 1);
    check(NULL, "2020-02-02T02:02:02Z");
    check("0", "1970-01-01T00:00:00Z"); /* the option wins */
    setenv("SOURCE_DATE_EPOCH", "soon", 1);
    assert_fails(timestamp_choose(NULL, out, &err), err, ERR_USAGE);
    unsetenv("SOURCE_DATE_EPOCH");
}

UNIT_SUITE(test_timestamp)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc_3339_stays_as_it_is),
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_source_date_epoch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
