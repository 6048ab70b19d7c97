#include "flatten/analyze/ci_rules.h"
#include "tests/unit/lib/unit.h"

static void test_set(void **state)
{
    static const struct {
        const char *name, *text;
        enum ci_rule rule;
        double limit;
    } rows[] = {
        {"max-wasted", "0", CI_RULE_WASTED, 0},
        {"max-wasted", "200MB", CI_RULE_WASTED, 200e6},
        {"max-wasted", "1.5 GiB", CI_RULE_WASTED, 1.5 * 1073741824},
        {"max-wasted", "10%", CI_RULE_WASTED_SHARE, 0.1},
        {"min-efficiency", "95%", CI_RULE_EFFICIENCY, 0.95},
        {"min-efficiency", "0.5", CI_RULE_EFFICIENCY, 0.5},
        {"max-depth", "40", CI_RULE_DEPTH, 40},
        {"max-probes", "1.5", CI_RULE_PROBES, 1.5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ci_rules g = {0};
        struct err err = ERR_INIT;
        assert_works(ci_rules_set(&g, rows[i].name, rows[i].text, &err), err);
        assert_true(g.set[rows[i].rule]);
        assert_true(g.limit[rows[i].rule] == rows[i].limit);
    }
}

static void test_bad(void **state)
{
    static const char *const rows[][2] = {
        {"max-wasted", ""},       {"max-wasted", "-1"},     {"max-wasted", "1e9"},
        {"max-wasted", "0x10"},   {"max-wasted", "101%"},   {"max-wasted", "1 potato"},
        {"max-wasted", "nan"},    {"max-wasted", "1..2"},   {"min-efficiency", "2"},
        {"min-efficiency", "1k"}, {"max-depth", "3layers"}, {"max-probes", "%"},
        {"max-wasted", "0.1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ci_rules g = {0};
        struct err err = ERR_INIT;
        assert_fails(ci_rules_set(&g, rows[i][0], rows[i][1], &err), err, ERR_USAGE);
    }
}

static void test_judge(void **state)
{
    const struct ci_values values = {
        .payload = 1000, .dead = 100, .efficiency = 0.9, .layers = 5, .probes = 1.25};
    static const struct {
        enum ci_rule rule;
        double limit;
        bool kept;
    } rows[] = {
        {CI_RULE_WASTED, 100, true},       {CI_RULE_WASTED, 99, false},
        {CI_RULE_WASTED_SHARE, 0.1, true}, {CI_RULE_WASTED_SHARE, 0.09, false},
        {CI_RULE_EFFICIENCY, 0.9, true},   {CI_RULE_EFFICIENCY, 0.91, false},
        {CI_RULE_DEPTH, 5, true},          {CI_RULE_DEPTH, 4, false},
        {CI_RULE_PROBES, 1.25, true},      {CI_RULE_PROBES, 1.2, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ci_result results[CI_RULES];
        struct ci_rules g = {0};
        size_t count;
        g.set[rows[i].rule] = true;
        g.limit[rows[i].rule] = rows[i].limit;
        assert_int_equal(ci_rules_judge(&g, &values, results, &count), rows[i].kept);
        assert_int_equal(count, 1);
        assert_int_equal(results[0].kept, rows[i].kept);
    }
}

/* A rule of the command line wins over the file's. Bytes and shares are one rule. */
static void test_file(void **state)
{
    static const char text[] = "{\"max_depth\": 3, \"max_wasted\": \"10%\", \"max_probes\": 2.5}";
    struct ci_rules g = {0};
    struct err err = ERR_INIT;

    (void)state;
    assert_works(ci_rules_set(&g, "max-wasted", "5MB", &err), err);
    assert_works(ci_rules_parse(&g, text, sizeof(text) - 1, &err), err);
    assert_true(g.set[CI_RULE_DEPTH] && g.limit[CI_RULE_DEPTH] == 3);
    assert_true(g.set[CI_RULE_PROBES] && g.limit[CI_RULE_PROBES] == 2.5);
    assert_true(g.set[CI_RULE_WASTED] && !g.set[CI_RULE_WASTED_SHARE] &&
                !g.set[CI_RULE_EFFICIENCY]);
}

static void test_bad_file(void **state)
{
    static const char *const rows[][2] = {
        {"[]", "object"},
        {"{\"max_deep\":3}", "1:2: no such rule"},
        {"{\n \"max_depth\":true}", "2:2: max_depth must be"},
        {"{\"max_depth\":\"3x\"}", "1:2: max-depth"},
        {"{\"max_depth\":1,\"max_depth\":2}", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ci_rules g = {0};
        struct err err = ERR_INIT;
        assert_fails(ci_rules_parse(&g, rows[i][0], strlen(rows[i][0]), &err), err, ERR_FORMAT);
        assert_contains(err.msg, rows[i][1]);
    }
}

UNIT_SUITE(test_ci_rules)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),  cmocka_unit_test(test_bad),      cmocka_unit_test(test_judge),
        cmocka_unit_test(test_file), cmocka_unit_test(test_bad_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
