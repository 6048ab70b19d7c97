#include "flatten/carve/layout/like/cover.h"
#include "tests/unit/lib/unit.h"

enum { ITEMS = 9 };

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Returns the least cost of items worth `need`, by trying all; UINT64_MAX if all do not suffice. */
static uint64_t least_cost(const struct cover_item *items, size_t count, uint64_t need)
{
    uint64_t least = UINT64_MAX;

    for (unsigned set = 0; set < 1u << count; set++) {
        uint64_t cost = 0, worth = 0;
        for (size_t i = 0; i < count; i++)
            if (set >> i & 1) {
                cost += items[i].cost;
                worth += items[i].worth;
            }
        if (worth >= need && cost < least)
            least = cost;
    }
    return least;
}

static void check_cover(const struct cover_item *items, size_t count, uint64_t need, uint64_t least)
{
    bool chosen[ITEMS] = {false};
    uint64_t cost = 0, worth = 0;
    struct err err = ERR_INIT;

    assert_works(cover_choose(items, count, need, chosen, &err), err);
    for (size_t i = 0; i < count; i++) {
        cost += chosen[i] ? items[i].cost : 0;
        worth += chosen[i] ? items[i].worth : 0;
        assert_true(least != UINT64_MAX || chosen[i]);
    }
    if (least == UINT64_MAX)
        return;
    assert_true(worth >= need);
    assert_int_equal(cost, least);
}

static void test_all_sets(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 400; round++) {
        struct cover_item items[ITEMS];
        size_t count = next(&seed) % (ITEMS + 1);
        for (size_t i = 0; i < count; i++)
            items[i] = (struct cover_item){next(&seed) % 100, next(&seed) % 50};
        uint64_t need = next(&seed) % 200;
        check_cover(items, count, need, least_cost(items, count, need));
    }
}

/* Bytes of layers: the cheapest item for its worth alone is not enough, and with another too dear.
 */
static void test_large(void **state)
{
    static const struct cover_item items[] = {
        {100000000, 90000000}, {300000000, 200000000}, {350000000, 215000000}};

    (void)state;
    check_cover(items, 3, 214000000, 350000000);
    check_cover(items, 3, 289000000, 400000000);
    check_cover(items, 3, UINT64_MAX / 2, UINT64_MAX);
}

UNIT_SUITE(test_cover)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_sets),
        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
