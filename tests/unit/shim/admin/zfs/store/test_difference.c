#include "tests/unit/lib/unit.h"

#include "shim/admin/zfs/store/difference.h"

static const struct zfs_item before[] = {
    {ZFS_IMAGE, "a", "id1", 0},  {ZFS_IMAGE, "b", "id2", 0},  {ZFS_IMAGE, "c", "id3", 0},
    {ZFS_LAYER, "l1", "l1", 10}, {ZFS_LAYER, "l2", "l2", 20},
};
static const struct zfs_item after[] = {
    {ZFS_IMAGE, "b", "id9", 0},  {ZFS_IMAGE, "c", "id3", 0},   {ZFS_IMAGE, "d", "id1", 0},
    {ZFS_LAYER, "l2", "l2", 20}, {ZFS_LAYER, "l3", "l3", 300},
};

#define ITEMS(of)                                                                                  \
    {                                                                                              \
        (struct zfs_item *)(uintptr_t)(of), sizeof(of) / sizeof(*(of))                             \
    }

static void check(const struct zfs_changed *c, enum zfs_change change, const char *name,
                  const char *was)
{
    assert_int_equal(c->change, change);
    assert_string_equal(c->item->name, name);
    if (was)
        assert_string_equal(c->was, was);
    else
        assert_null(c->was);
}

static void test_compare(void **state)
{
    const struct zfs_items one = ITEMS(before), other = ITEMS(after);
    _cleanup_arena_ struct arena arena = {0};
    struct zfs_difference d;
    struct err err;

    (void)state;
    assert_int_equal(zfs_compare(&one, &other, &arena, &d, &err), 0);
    assert_int_equal(d.count, 5);
    check(&d.list[0], ZFS_REMOVED, "a", NULL);
    check(&d.list[1], ZFS_MOVED, "b", "id2");
    assert_string_equal(d.list[1].item->id, "id9");
    check(&d.list[2], ZFS_ADDED, "d", NULL);
    check(&d.list[3], ZFS_REMOVED, "l1", NULL);
    check(&d.list[4], ZFS_ADDED, "l3", NULL);
    assert_int_equal(d.added, 300);
    assert_int_equal(d.removed, 10);
}

static void test_nothing(void **state)
{
    const struct zfs_items one = ITEMS(before), none = {0};
    _cleanup_arena_ struct arena arena = {0};
    struct zfs_difference d;
    struct err err;

    (void)state;
    assert_int_equal(zfs_compare(&one, &one, &arena, &d, &err), 0);
    assert_int_equal(d.count, 0);
    assert_int_equal(zfs_compare(&none, &one, &arena, &d, &err), 0);
    assert_int_equal(d.count, 5);
    assert_int_equal(d.added, 30);
}

static void test_too_many_bytes(void **state)
{
    struct zfs_item layers[] = {{ZFS_LAYER, "a", "a", UINT64_MAX}, {ZFS_LAYER, "b", "b", 5}};
    const struct zfs_items one = ITEMS(layers), none = {0};
    _cleanup_arena_ struct arena arena = {0};
    struct zfs_difference d;
    struct err err;

    (void)state;
    assert_int_equal(zfs_compare(&none, &one, &arena, &d, &err), 0);
    assert_true(d.added == UINT64_MAX);
}

UNIT_SUITE(test_difference)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_too_many_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
