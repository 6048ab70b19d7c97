#include "tests/unit/lib/unit.h"

#include "shim/warm/warm_session.h"

static void test_place(void **state)
{
    static const struct warm_part parts[] = {
        {.target = "/"}, {.target = "/data"}, {.target = "/data/sets"}};
    static const struct {
        const char *path, *within;
        uint32_t part;
    } cases[] = {
        {"/usr/bin/python", "usr/bin/python", 0},
        {"/run/merged/usr/bin/python", "usr/bin/python", 0},
        {"/run/merged", NULL, 0},
        {"/run/mergedx/a", "run/mergedx/a", 0},
        {"/data/x", "x", 1},
        {"/run/merged/data/x", "x", 1},
        {"/data", NULL, 1},
        {"/database/x", "database/x", 0},
        {"/data/sets/a/b", "a/b", 2},
        {"/", NULL, 0},
        {"", NULL, 0},
        {"pipe:[123]", NULL, 0},
        {"/data/line\nbreak", NULL, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t part = 9;
        const char *within = warm_session_place(cases[i].path, "/run/merged", parts, 3, &part);
        assert_int_equal(part, cases[i].part);
        if (cases[i].within)
            assert_string_equal(within, cases[i].within);
        else
            assert_null(within);
    }
}

UNIT_SUITE(test_warm_session)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_place)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
