#include "base/ranking.h"
#include "tests/unit/lib/unit.h"

enum { MOST = 3 };

struct item {
    uint64_t weight;
    char name;
};

static uint64_t weight(const void *item)
{
    return ((const struct item *)item)->weight;
}

static void test_the_greatest_stay_in_order(void **state)
{
    static const struct item all[] = {{3, 'a'}, {9, 'b'}, {3, 'c'}, {1, 'd'}, {7, 'e'}, {3, 'f'}};
    struct item best[MOST];
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        ranking_offer(best, &count, MOST, sizeof(*best), &all[i], weight);
        assert_int_equal(count, i + 1 < MOST ? i + 1 : MOST);
    }
    assert_int_equal(best[0].name, 'b');
    assert_int_equal(best[1].name, 'e');
    assert_int_equal(best[2].name, 'a'); /* the first of three equals */
}

UNIT_SUITE(test_ranking)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_greatest_stay_in_order)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
