#include "flatten/carve/family_owners.h"
#include "tests/unit/lib/unit.h"

#define TEXT(text) ((char[]){text})

static struct owner one_list[] = {
    {OWNER_UNOWNED, TIER_APPLICATION, TEXT(""), NULL},
    {OWNER_UNOWNED, TIER_STATE, TEXT("state"), NULL},
    {OWNER_DPKG, TIER_SYSTEM, TEXT("libc6"), TEXT("2.36-9")},
    {OWNER_PIP, TIER_PACKAGE, TEXT("numpy"), TEXT("2.1")},
};
static struct owner other_list[] = {
    {OWNER_UNOWNED, TIER_APPLICATION, TEXT(""), NULL},
    {OWNER_UNOWNED, TIER_STATE, TEXT("state"), NULL},
    {OWNER_DPKG, TIER_SYSTEM, TEXT("bash"), TEXT("5.2")},
    {OWNER_DPKG, TIER_SYSTEM, TEXT("libc6"), TEXT("2.36-9")},
    {OWNER_PIP, TIER_FRAMEWORK, TEXT("numpy"), TEXT("2.2")},
};

/* An owner of both images is one; a version that differs is unknown, the lower tier counts. */
static void test_join(void **state)
{
    const struct owners one = {.list = one_list, .count = 4};
    const struct owners other = {.list = other_list, .count = 5};
    const struct owners *const lists[] = {&one, &other};
    uint32_t now_one[4], now_other[5], *now[] = {now_one, now_other};
    struct err err = ERR_INIT;
    struct owners joined;

    (void)state;
    assert_works(family_owners_join(lists, 2, &joined, now, &err), err);
    assert_int_equal(joined.count, 5);
    assert_int_equal(now_one[OWNERS_NOBODY], OWNERS_NOBODY);
    assert_int_equal(now_other[OWNERS_STATE], OWNERS_STATE);
    assert_int_equal(now_one[2], now_other[3]);
    assert_int_equal(now_one[3], now_other[4]);
    assert_string_equal(joined.list[now_other[2]].name, "bash");
    assert_string_equal(joined.list[now_one[2]].version, "2.36-9");
    assert_null(joined.list[now_one[3]].version);
    assert_int_equal(joined.list[now_one[3]].tier, TIER_FRAMEWORK);
    free(joined.list);
}

UNIT_SUITE(test_family_owners)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
