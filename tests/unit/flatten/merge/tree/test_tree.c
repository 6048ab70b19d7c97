#include "flatten/merge/tree/tree.h"
#include "tests/unit/lib/unit.h"

static struct tree *new_tree(void)
{
    struct err err = ERR_INIT;
    struct tree *t = tree_new(&err);

    assert_non_null(t);
    return t;
}

static uint32_t child(struct tree *t, uint32_t parent, const char *name)
{
    struct err err = ERR_INIT;
    uint32_t node = tree_child(t, parent, name, strlen(name), &err);

    assert_int_not_equal(node, TREE_NONE);
    return node;
}

static void test_root(void **state)
{
    _cleanup_tree_ struct tree *t = new_tree();
    _cleanup_buf_ struct buf path = BUF_INIT;

    (void)state;
    assert_int_equal(tree_count(t), 1);
    assert_int_equal(tree_parent(t, TREE_ROOT), TREE_NONE);
    tree_path(t, TREE_ROOT, &path);
    assert_string_equal(path.data, "");
}

static void test_children(void **state)
{
    _cleanup_tree_ struct tree *t = new_tree();
    uint32_t a = child(t, TREE_ROOT, "a"), b = child(t, a, "b"), other = child(t, TREE_ROOT, "b");

    (void)state;
    assert_int_not_equal(b, other); /* one name, two parents */
    assert_int_equal(child(t, TREE_ROOT, "a"), a);
    assert_int_equal(tree_find(t, a, "b", 1), b);
    assert_int_equal(tree_find(t, b, "a", 1), TREE_NONE);
    assert_int_equal(tree_find(t, a, "bc", 2), TREE_NONE);
    assert_int_equal(tree_parent(t, b), a);
    assert_int_equal(tree_count(t), 4);
}

static void test_paths(void **state)
{
    _cleanup_tree_ struct tree *t = new_tree();
    _cleanup_buf_ struct buf path = BUF_INIT;

    (void)state;
    uint32_t deep = child(t, child(t, child(t, TREE_ROOT, "usr"), "lib"), "x");
    buf_puts(&path, "/");
    tree_path(t, deep, &path); /* appends */
    assert_string_equal(path.data, "/usr/lib/x");
}

static void test_names_are_bytes(void **state)
{
    _cleanup_tree_ struct tree *t = new_tree();
    _cleanup_buf_ struct buf path = BUF_INIT;

    (void)state;
    uint32_t a = child(t, TREE_ROOT, "\xff\x01"), b = child(t, TREE_ROOT, "\xff\x02");
    assert_int_not_equal(a, b);
    tree_path(t, b, &path);
    assert_string_equal(path.data, "\xff\x02");
}

static void test_growth(void **state)
{
    enum { MANY = 50000 };
    _cleanup_tree_ struct tree *t = new_tree();
    char name[32];

    (void)state;
    uint32_t dir = child(t, TREE_ROOT, "dir");
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "file-%u", i);
        uint32_t node = child(t, i % 2 ? dir : TREE_ROOT, name);
        assert_int_equal(node, i + 2);
        tree_node(t, node)->ordinal = i;
    }
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "file-%u", i);
        uint32_t node = tree_find(t, i % 2 ? dir : TREE_ROOT, name, strlen(name));
        assert_int_equal(node, i + 2);
        assert_int_equal(tree_node(t, node)->ordinal, i);
    }
    assert_int_equal(tree_count(t), MANY + 2);
}

/* 4,000 levels: a path is built without recursion, and its length is right. */
static void test_depth(void **state)
{
    enum { DEPTH = 4000 };
    _cleanup_tree_ struct tree *t = new_tree();
    _cleanup_buf_ struct buf path = BUF_INIT;
    uint32_t node = TREE_ROOT;

    (void)state;
    for (int i = 0; i < DEPTH; i++)
        node = child(t, node, "d");
    tree_path(t, node, &path);
    assert_int_equal(path.len, 2 * DEPTH - 1);
    assert_int_equal(strlen(path.data), path.len);
}

UNIT_SUITE(test_tree)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_root),   cmocka_unit_test(test_children),
        cmocka_unit_test(test_paths),  cmocka_unit_test(test_names_are_bytes),
        cmocka_unit_test(test_growth), cmocka_unit_test(test_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
