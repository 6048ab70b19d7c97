#include "flatten/carve/order.h"
#include "tests/unit/lib/merge/tree_paths.h"

static const char *const paths[] = {"a",   "a-b", "a.b", "a/b", "a/b/c",
                                    "a/c", "ab",  "b",   "b/a", "\xff"};
enum { PATHS = sizeof(paths) / sizeof(*paths) };

/* Adds the paths in steps of `step` through the list, and returns their order as lines. */
static char *order_of(size_t step)
{
    struct err err;
    _cleanup_tree_ struct tree *tree = tree_new(&err);
    _cleanup_buf_ struct buf out = BUF_INIT;

    for (size_t i = 0; i < PATHS; i++)
        tree_at(tree, paths[i * step % PATHS]);
    _cleanup_free_ uint32_t *order = order_paths(tree, &err);
    assert_non_null(order);
    for (uint32_t i = 0; i < tree_count(tree); i++) {
        tree_path(tree, order[i], &out);
        buf_putc(&out, '\n');
    }
    char *text = buf_take(&out, &err);
    assert_non_null(text);
    return text;
}

static void test_directories_come_before_their_content(void **state)
{
    _cleanup_free_ char *order = order_of(1);

    (void)state;
    assert_string_equal(order, "\na\na/b\na/b/c\na/c\na-b\na.b\nab\nb\nb/a\n\xff\n");
}

static void test_the_order_does_not_depend_on_that_of_the_tree(void **state)
{
    _cleanup_free_ char *order = order_of(1);

    (void)state;
    for (size_t step = 3; step < 10; step += 4) {
        _cleanup_free_ char *other = order_of(step);
        assert_string_equal(order, other);
    }
}

UNIT_SUITE(test_order)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directories_come_before_their_content),
        cmocka_unit_test(test_the_order_does_not_depend_on_that_of_the_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
