#include "flatten/analyze/lookups/lookup_costs.h"
#include "tests/unit/lib/unit.h"

#include <stdio.h>

#define HEAD                                                                                       \
    "{\"version\":1,\"measured\":\"2026-01-02T03:04:05Z\",\"kernel\":\"6.1\",\"filesystem\":"      \
    "\"ext4\","
#define STATE(cold, k) "{\"" cold "\":" k "}"
#define KS(stat, missing, readdir)                                                                 \
    "\"k\":{\"stat\":" stat ",\"missing\":" missing ",\"readdir\":" readdir "}}"

static const char good[] =
    HEAD KS(STATE("mount", "0.5"), STATE("mount", "0"), STATE("mount", "1e1"));

static void test_good(void **state)
{
    struct lookup_costs c;
    struct err err = ERR_INIT;

    (void)state;
    assert_works(lookup_costs_parse(good, sizeof(good) - 1, &c, &err), err);
    assert_true(c.measured[LOOKUP_MOUNT] && !c.measured[LOOKUP_DENTRIES]);
    assert_true(c.k[LOOKUP_STAT][LOOKUP_MOUNT] == 0.5 && c.k[LOOKUP_READDIR][LOOKUP_MOUNT] == 10);
    assert_true(c.k[LOOKUP_STAT][LOOKUP_DISK] == lookup_default_costs.k[LOOKUP_STAT][LOOKUP_DISK]);
    assert_string_equal(c.date, "2026-01-02T03:04:05Z");
    assert_true(lookup_ratio(&c, LOOKUP_STAT, LOOKUP_MOUNT, 5) == 3);
}

/* Malformed text leaves the defaults. */
static void test_bad(void **state)
{
    static const struct {
        const char *text;
        enum err_kind kind;
    } bad[] = {
        {"", ERR_FORMAT},
        {"[]", ERR_FORMAT},
        {"{}", ERR_FORMAT},
        {"{\"version\":2}", ERR_UNSUPPORTED},
        {"{\"version\":1}", ERR_FORMAT},
        {HEAD "\"k\":{}}", ERR_FORMAT},
        {HEAD "\"k\":3}", ERR_FORMAT},
        {HEAD KS(STATE("mount", "0.5"), STATE("mount", "0"), "{}"), ERR_FORMAT},
        {HEAD KS(STATE("mount", "-1"), STATE("mount", "0"), STATE("mount", "0")), ERR_FORMAT},
        {HEAD KS(STATE("mount", "1e400"), STATE("mount", "0"), STATE("mount", "0")), ERR_FORMAT},
        {HEAD KS(STATE("mount", "1001"), STATE("mount", "0"), STATE("mount", "0")), ERR_FORMAT},
        {HEAD KS(STATE("mount", "\"1\""), STATE("mount", "0"), STATE("mount", "0")), ERR_FORMAT},
        {"{\"version\":1,\"version\":1}", ERR_FORMAT},
    };
    struct lookup_costs c;
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_fails(lookup_costs_parse(bad[i].text, strlen(bad[i].text), &c, &err), err,
                     bad[i].kind);
        assert_memory_equal(&c, &lookup_default_costs, sizeof(c));
    }
}

/* The defaults are what docs/overlay-costs.md measured. */
static void test_defaults(void **state)
{
    const struct lookup_costs *c = &lookup_default_costs;

    (void)state;
    assert_true(lookup_ratio(c, LOOKUP_STAT, LOOKUP_DISK, 1) == 1);
    double at20 = lookup_ratio(c, LOOKUP_MISSING, LOOKUP_DISK, 20);
    assert_true(at20 > 9.5 * 0.9 && at20 < 9.5 * 1.1);
    for (int cold = 0; cold < LOOKUP_COLDS; cold++)
        assert_false(c->measured[cold]);
    assert_string_equal(c->file, "");
}

UNIT_SUITE(test_lookup_costs)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
