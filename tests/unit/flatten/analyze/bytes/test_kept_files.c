/* Kept content: the newest copy of each path, up to a limit. */
#include "flatten/analyze/bytes/kept_files.h"
#include "tests/unit/lib/unit.h"

static char *add(struct kept_files *k, uint32_t node, uint32_t inode, uint64_t size)
{
    struct err err = ERR_INIT;
    char *data;

    assert_works(kept_files_add(k, node, inode, size, &data, &err), err);
    return data;
}

static void test_newest(void **state)
{
    _cleanup_kept_files_ struct kept_files k = {0};

    (void)state;
    memcpy(add(&k, 7, 1, 3), "old", 3);
    memcpy(add(&k, 2, 4, 5), "other", 5);
    memcpy(add(&k, 7, 9, 6), "newest", 6);
    assert_null(add(&k, 8, 10, 0));
    assert_int_equal(k.bytes, 11);
    assert_null(kept_files_find(&k, 1)->data);
    assert_memory_equal(kept_files_find(&k, 9)->data, "newest", 6);
    assert_memory_equal(kept_files_find(&k, 4)->data, "other", 5);
    assert_int_equal(kept_files_find(&k, 10)->len, 0);
    assert_null(kept_files_find(&k, 5));
    assert_int_equal(kept_files_cut(&k), 0);
}

static void test_limit(void **state)
{
    _cleanup_kept_files_ struct kept_files k = {0};

    (void)state;
    assert_non_null(add(&k, 1, 1, KEPT_FILES_MOST - 10));
    assert_null(add(&k, 2, 2, 11));
    assert_null(add(&k, 3, 3, UINT64_MAX));
    assert_int_equal(kept_files_cut(&k), 2);
    assert_non_null(add(&k, 1, 4, 5)); /* in place of the large one */
    assert_non_null(add(&k, 2, 5, 11));
    assert_int_equal(k.bytes, 16);
    assert_int_equal(kept_files_cut(&k), 1);
    assert_true(kept_files_find(&k, 3)->cut);
}

UNIT_SUITE(test_kept_files)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_newest),
                                              cmocka_unit_test(test_limit)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
