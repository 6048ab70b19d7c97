/* The layers that lookups look into, newest first. */
#include "flatten/merge/tree/layer_probes.h"
#include "tests/unit/lib/merge/tree_paths.h"

#include <math.h>

/* A path of a layer: "1 d", "2 o" (opaque), "1 f" (file), "2 w" (whiteout), then the path. */
static void add(struct layer_probes *p, struct tree *tree, const char *row)
{
    static const char kinds[] = "dofw";
    uint32_t node = tree_at(tree, row + 4);
    struct err err = ERR_INIT;
    enum layer_probe_kind kind = (enum layer_probe_kind)(strchr(kinds, row[2]) - kinds);
    assert_works(layer_probes_add(p, node, (unsigned)(row[0] - '0'), kind, &err), err);
}

static double mean_of(const char *const *rows, unsigned layers)
{
    struct err err = ERR_INIT;
    _cleanup_tree_ struct tree *tree = tree_new(&err);
    struct layer_probes p = {0};
    double mean = 0;

    assert_non_null(tree);
    for (; *rows; rows++)
        add(&p, tree, *rows);
    assert_works(layer_probes_mean(&p, tree, layers, &mean, &err), err);
    layer_probes_clear(&p);
    return mean;
}

#define CHECK(layers, sum, paths, ...)                                                             \
    do {                                                                                           \
        const char *const rows[] = {__VA_ARGS__, NULL};                                            \
        double mean = mean_of(rows, layers);                                                       \
        if (fabs(mean - (double)(sum) / (paths)) > 1e-9)                                           \
            fail_msg("%g", mean);                                                                  \
    } while (0)

static void test_a_lookup_ends_at_a_file(void **state)
{
    (void)state;
    CHECK(1, 2, 2, "1 d a", "1 f a/b");
    /* The directory is looked up in both layers, the newer file in one. */
    CHECK(2, 2 + 1 + 2, 3, "2 d a", "2 f a/new", "1 d a", "1 f a/old");
    CHECK(2, 2 + 1 + 2, 3, "1 d a", "1 f a/old", "2 d a", "2 f a/new"); /* oldest first */
    /* A file takes the place of an older one. */
    CHECK(2, 2 + 1, 2, "2 d a", "2 f a/b", "1 d a", "1 f a/b");
    /* All layers have the root; empty ones are looked into, too. */
    CHECK(3, 3, 1, "1 f a");
}

static void test_what_is_hidden_costs_nothing(void **state)
{
    (void)state;
    /* An opaque directory ends the lookup of itself, and hides what is older. */
    CHECK(3, 2 + 1, 2, "3 f c", "2 o a", "1 d a", "1 f a/old");
    CHECK(3, 1 + 2 + 1, 3, "3 f c", "2 o a", "2 f a/new", "1 d a", "1 f a/old");
    /* A whiteout hides a path, and ends the lookup of what is newer. */
    CHECK(2, 1, 1, "2 w a", "2 f b", "1 d a", "1 f a/b");
    CHECK(3, 2 + 1, 2, "3 d a", "3 f a/new", "2 w a", "1 d a", "1 f a/old");
    /* A file in the place of a directory, and a directory in the place of a file. */
    CHECK(2, 1, 1, "2 f a", "1 d a", "1 f a/b");
    CHECK(3, 2, 1, "3 d a", "2 f a", "1 d a", "1 f a/b");
    /* Below a hidden directory nothing shows. */
    CHECK(3, 1, 1, "3 o a", "2 d a", "2 d a/b", "2 f a/b/c", "1 d a", "1 d a/b");
    /* The opaque root is none. */
    CHECK(2, 1 + 2, 2, "2 o ", "2 f a", "1 f b");
}

static void test_without_paths(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_tree_ struct tree *tree = tree_new(&err);
    const struct layer_probes none = {0};
    double mean = 0;

    (void)state;
    assert_works(layer_probes_mean(&none, tree, 0, &mean, &err), err);
    assert_true(mean == 1);
    assert_works(layer_probes_mean(&none, tree, 5, &mean, &err), err);
    assert_true(mean == 1);
}

UNIT_SUITE(test_layer_probes)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lookup_ends_at_a_file),
        cmocka_unit_test(test_what_is_hidden_costs_nothing),
        cmocka_unit_test(test_without_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
