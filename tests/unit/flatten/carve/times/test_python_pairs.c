/* Sources of .pyc files by their names, and the times that headers name. */
#include "tests/unit/lib/merge/tree_paths.h"

#include "flatten/carve/times/python_pairs.h"

static void test_sources_by_name(void **state)
{
    static const char *const pairs[][2] = {
        {"lib/__pycache__/m.cpython-311.pyc", "lib/m.py"},
        {"lib/__pycache__/m.cpython-311.opt-2.pyc", "lib/m.py"},
        {"lib/__pycache__/dotted.name.cpython-311.pyc", "lib/dotted.name.py"},
        {"__pycache__/top.cpython-39.pyc", "top.py"},
        {"lib/m.pyc", "lib/m.py"},
        {"lib/m.pyo", "lib/m.py"},
        {"lib/__pycache__/m.pyc", NULL},
        {"lib/__pycache__/m.cpython-311.so", NULL},
        {"lib/none.pyc", NULL},
        {"lib/.pyc", NULL},
        {"lib/m.py", NULL},
    };
    struct err err = ERR_INIT;
    _cleanup_tree_ struct tree *tree = tree_new(&err);

    (void)state;
    assert_non_null(tree);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (pairs[i][1])
            tree_at(tree, pairs[i][1]);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        uint32_t compiled = tree_at(tree, pairs[i][0]);
        uint32_t expected = pairs[i][1] ? tree_at(tree, pairs[i][1]) : TREE_NONE;
        if (pyc_source(tree, compiled) != expected)
            fail_msg("%s", pairs[i][0]);
    }
    assert_int_equal(pyc_source(tree, TREE_ROOT), TREE_NONE);
}

static void test_times_in_headers(void **state)
{
    uint32_t time = 0;

    (void)state;
    /* Python 3.11 (3495): flags, time, size. */
    assert_true(pyc_time((const unsigned char *)"\xa7\r\r\n\0\0\0\0\x2a\0\0\0\6\0\0\0", &time));
    assert_int_equal(time, 42);
    /* The same, with a hash of the source. */
    assert_false(pyc_time((const unsigned char *)"\xa7\r\r\n\1\0\0\0hashhash", &time));
    assert_false(pyc_time((const unsigned char *)"\xa7\r\r\n\3\0\0\0hashhash", &time));
    /* Python 3.6 (3379) and 2.7 (62211) have no flags. */
    assert_true(pyc_time((const unsigned char *)"\x33\r\r\n\x2b\0\0\0\6\0\0\0code", &time));
    assert_int_equal(time, 43);
    assert_true(pyc_time((const unsigned char *)"\x03\xf3\r\n\x2d\0\0\x80"
                                                "codecode",
                         &time));
    assert_int_equal(time, 0x8000002d);
}

UNIT_SUITE(test_python_pairs)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources_by_name),
        cmocka_unit_test(test_times_in_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
