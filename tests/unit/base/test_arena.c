/* Arenas: alignment, zeroes, limits. */
#include "base/arena.h"

#include "tests/unit/lib/unit.h"

#include <stdalign.h>

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    _cleanup_arena_ struct arena a = {0};
    unsigned char *all[500];

    (void)state;
    for (size_t i = 0; i < 500; i++) {
        all[i] = arena_alloc(&a, i);
        assert_non_null(all[i]);
        assert_int_equal((uintptr_t)all[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(all[i][k], 0);
        memset(all[i], (int)(i & 0xff), i);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(all[i][k], i & 0xff);
}

static void a_large_allocation_fits(void **state)
{
    _cleanup_arena_ struct arena a = {0};
    size_t size = 5 * 1024 * 1024;

    (void)state;
    char *p = arena_alloc(&a, size);
    assert_non_null(p);
    memset(p, 'x', size);
    assert_true(a.used >= size);
}

static void printed_text_is_copied_whole(void **state)
{
    _cleanup_arena_ struct arena a = {0}, small = {.limit = 4};
    char expected[3000];

    (void)state;
    assert_string_equal(arena_printf(&a, "%s", ""), "");
    memset(expected, 'x', sizeof(expected) - 1);
    expected[sizeof(expected) - 1] = '\0';
    assert_string_equal(arena_printf(&a, "%s", expected), expected);
    assert_string_equal(arena_printf(&a, "%d:%s", 7, "b"), "7:b");
    assert_null(arena_printf(&small, "%s", expected));
}

static void the_limit_bounds_what_is_taken(void **state)
{
    _cleanup_arena_ struct arena a = {.limit = 100000};
    size_t got = 0;

    (void)state;
    while (arena_alloc(&a, 100)) {
        got += 100;
        assert_true(a.used <= a.limit);
        assert_true(got <= a.limit);
    }
    assert_true(got > 80000); /* and most of it is usable */
    assert_null(arena_alloc(&a, 100000));
}

static void a_small_limit_still_gives_something(void **state)
{
    _cleanup_arena_ struct arena a = {.limit = 200};

    (void)state;
    assert_non_null(arena_alloc(&a, 16));
    assert_null(arena_alloc(&a, 200));
    assert_true(a.used <= 200);
}

static void impossible_sizes_are_refused(void **state)
{
    _cleanup_arena_ struct arena a = {0};

    (void)state;
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX - 8));
    assert_null(arena_strndup(&a, "x", SIZE_MAX));
    assert_int_equal(a.used, 0);
}

static void copies_are_terminated_and_keep_nul(void **state)
{
    _cleanup_arena_ struct arena a = {0};

    (void)state;
    char *text = arena_strndup(&a, "a\0bcd", 3);
    assert_memory_equal(text, "a\0b\0", 4);
    char *empty = arena_strndup(&a, "", 0);
    assert_string_equal(empty, "");
}

static void a_freed_arena_can_be_used_again(void **state)
{
    struct arena a = {.limit = 50000};

    (void)state;
    assert_non_null(arena_alloc(&a, 40000));
    assert_null(arena_alloc(&a, 40000));
    arena_free(&a);
    assert_int_equal(a.used, 0);
    assert_non_null(arena_alloc(&a, 40000));
    arena_free(&a);
    arena_free(&a);
}

static void a_list_grows_and_keeps_its_items(void **state)
{
    _cleanup_arena_ struct arena a = {0};
    uint32_t *list = NULL;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        list = arena_extend(&a, list, i, sizeof(*list));
        assert_non_null(list);
        assert_int_equal(list[i], 0);
        list[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(list[i], i);
    a.limit = a.used;
    assert_null(arena_extend(&a, list, 1u << 20, sizeof(*list)));
    assert_null(arena_extend(&a, list, SIZE_MAX / 2 + 1, sizeof(*list)));
}

UNIT_SUITE(test_arena)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_aligned_and_apart),
        cmocka_unit_test(a_list_grows_and_keeps_its_items),
        cmocka_unit_test(a_large_allocation_fits),
        cmocka_unit_test(printed_text_is_copied_whole),
        cmocka_unit_test(the_limit_bounds_what_is_taken),
        cmocka_unit_test(a_small_limit_still_gives_something),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(copies_are_terminated_and_keep_nul),
        cmocka_unit_test(a_freed_arena_can_be_used_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
