/* Ranges of subordinate ids: which ids have the same owner. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/gather/bind_ids.h"

static const char text[] = "alice:100000:65536\n"
                           "# bob:1:1000\n"
                           "bob:200000:65536\n"
                           "1003:300000:10\n"
                           "broken:400000\n"
                           "full:4294967000:295";

static const struct {
    uint32_t first, count, own;
    uid_t uid;
    const char *name;
    bool shared;
} rows[] = {
    {100000, 65536, 100000, 100000, NULL, true},   {100000, 65536, 101001, 101001, NULL, true},
    {100000, 65537, 100000, 100000, NULL, false},  {99999, 2, 100000, 100000, NULL, false},
    {100000, 65536, 1001, 1001, "alice", true},    {100000, 65536, 1001, 1001, "ali", false},
    {100000, 65536, 1001, 1001, NULL, false},      {200000, 1, 1001, 1001, "alice", false},
    {200000, 1, 100000, 100000, NULL, false},      {300000, 10, 1003, 1003, NULL, true},
    {300000, 11, 1003, 1003, NULL, false},         {1, 1, 1002, 1002, "bob", false},
    {400000, 1, 400000, 400000, "broken", false},  {4294967000, 295, 4294967000, 1, NULL, true},
    {4294967000, 296, 4294967000, 1, NULL, false},
};

static void test_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct id_range range = {.outside = rows[i].first, .count = rows[i].count};
        if (bind_ids_share(text, &range, rows[i].own, rows[i].uid, rows[i].name) != rows[i].shared)
            fail_msg("row %zu", i);
    }
    const struct id_range range = {.outside = 1, .count = 1};
    assert_false(bind_ids_share("", &range, 1, 1, "x"));
    assert_false(bind_ids_share("x:\n\nx", &range, 1, 1, "x"));
}

UNIT_SUITE(test_bind_ids)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
