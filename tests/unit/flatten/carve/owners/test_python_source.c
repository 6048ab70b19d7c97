/* Sources of .pyc files by their names. */
#include "tests/unit/lib/merge/tree_paths.h"

#include "flatten/carve/owners/python_source.h"

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

UNIT_SUITE(test_python_source)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_sources_by_name)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
