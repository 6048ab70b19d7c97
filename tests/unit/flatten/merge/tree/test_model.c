#include "flatten/merge/tree/model.h"
#include "tests/unit/lib/unit.h"

/* root / a / b / c */
struct fixture {
    struct tree *tree;
    struct model model;
    uint32_t a, b, c;
    struct err err;
};

static int make(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->tree = tree_new(&f->err);
    f->a = tree_child(f->tree, TREE_ROOT, "a", 1, &f->err);
    f->b = tree_child(f->tree, f->a, "b", 1, &f->err);
    f->c = tree_child(f->tree, f->b, "c", 1, &f->err);
    model_mark(&f->model);
    *state = f;
    return 0;
}

static int drop(void **state)
{
    struct fixture *f = *state;

    model_free(&f->model);
    tree_free(f->tree);
    free(f);
    return 0;
}

static enum model_kind kind(const struct fixture *f, uint32_t node)
{
    return model_kind(&f->model, f->tree, node);
}

static void set(struct fixture *f, uint32_t node, enum model_kind what)
{
    assert_works(model_set(&f->model, node, what, 7, &f->err), f->err);
}

static void empty(struct fixture *f, uint32_t node)
{
    assert_works(model_empty(&f->model, node, model_mark(&f->model), &f->err), f->err);
}

static void fill(struct fixture *f)
{
    set(f, f->a, MODEL_DIR);
    set(f, f->b, MODEL_DIR);
    set(f, f->c, MODEL_OTHER);
}

static void test_nothing_at_first(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(kind(f, TREE_ROOT), MODEL_DIR);
    assert_int_equal(kind(f, f->a), MODEL_NOTHING);
    assert_int_equal(kind(f, f->c), MODEL_NOTHING);
}

static void test_set(void **state)
{
    struct fixture *f = *state;

    fill(f);
    assert_int_equal(kind(f, f->b), MODEL_DIR);
    assert_int_equal(kind(f, f->c), MODEL_OTHER);
    assert_int_equal(f->model.slots[f->c].inode, 7);
}

static void test_emptied_subtree_is_gone(void **state)
{
    struct fixture *f = *state;

    fill(f);
    empty(f, f->a);
    assert_int_equal(kind(f, f->a), MODEL_DIR); /* the node itself stays */
    assert_int_equal(kind(f, f->b), MODEL_NOTHING);
    assert_int_equal(kind(f, f->c), MODEL_NOTHING);
}

static void test_younger_lives(void **state)
{
    struct fixture *f = *state;

    fill(f);
    empty(f, f->a);
    set(f, f->b, MODEL_DIR);
    assert_int_equal(kind(f, f->b), MODEL_DIR);
    assert_int_equal(kind(f, f->c), MODEL_NOTHING); /* the old node stays removed */
    set(f, f->c, MODEL_SYMLINK);
    assert_int_equal(kind(f, f->c), MODEL_SYMLINK);
}

/* Emptying as of an older mark spares what was set since: whiteouts of one layer. */
static void test_empty_as_of_a_mark(void **state)
{
    struct fixture *f = *state;

    fill(f);
    uint32_t mark = model_mark(&f->model);
    set(f, f->b, MODEL_DIR);
    assert_works(model_empty(&f->model, f->a, mark, &f->err), f->err);
    assert_int_equal(kind(f, f->b), MODEL_DIR);
    assert_int_equal(kind(f, f->c), MODEL_NOTHING);
    assert_works(model_empty(&f->model, f->a, mark - 1, &f->err), f->err); /* never backwards */
    assert_int_equal(kind(f, f->c), MODEL_NOTHING);
}

static void test_empty_root(void **state)
{
    struct fixture *f = *state;

    fill(f);
    empty(f, TREE_ROOT);
    assert_int_equal(kind(f, TREE_ROOT), MODEL_DIR);
    assert_int_equal(kind(f, f->a), MODEL_NOTHING);
}

static void test_set_forgets_opaque(void **state)
{
    struct fixture *f = *state;

    fill(f);
    struct model_slot *slot = model_slot(&f->model, f->a, &f->err);
    assert_non_null(slot);
    slot->opaque = true;
    set(f, f->a, MODEL_DIR);
    assert_false(f->model.slots[f->a].opaque);
}

static void test_slots_far_apart(void **state)
{
    struct fixture *f = *state;
    struct model_slot *slot = model_slot(&f->model, 100000, &f->err);

    assert_non_null(slot);
    assert_int_equal(slot->kind, MODEL_NOTHING);
    assert_int_equal(model_slot(&f->model, 99999, &f->err)->stamp, 0);
}

UNIT_SUITE(test_model)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_at_first, make, drop),
        cmocka_unit_test_setup_teardown(test_set, make, drop),
        cmocka_unit_test_setup_teardown(test_emptied_subtree_is_gone, make, drop),
        cmocka_unit_test_setup_teardown(test_younger_lives, make, drop),
        cmocka_unit_test_setup_teardown(test_empty_as_of_a_mark, make, drop),
        cmocka_unit_test_setup_teardown(test_empty_root, make, drop),
        cmocka_unit_test_setup_teardown(test_set_forgets_opaque, make, drop),
        cmocka_unit_test_setup_teardown(test_slots_far_apart, make, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
