/* Paths are walked as in a container (tree_walk.h). */
#include "tests/unit/lib/merge/tree_paths.h"

#include "flatten/merge/tree/tree_walk.h"

#include <stdlib.h>
#include <string.h>

static const char *const links[][2] = {
    {"lib", "usr/lib"},      {"usr", "real/./usr//"},       {"up", "../../../real/usr/lib"},
    {"abs", "/lib/m"},       {"real/usr/lib/rel", "../x"},  {"loop", "loop"},
    {"gone", "lib/nothing"}, {"through", "lib/rel/../lib"},
};
static const char *const paths[] = {"real/usr/lib/m", "real/usr/x"};

/* The links of the tree; a target is gone when the next one is asked for, as in a spool. */
struct image {
    struct tree *tree;
    char *target;
};

static const char *target_of(void *ctx, uint32_t node)
{
    struct image *image = ctx;

    free(image->target);
    image->target = NULL;
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
        if (tree_at(image->tree, links[i][0]) == node)
            image->target = strdup(links[i][1]);
    return image->target;
}

/* The path leads to the other, which is NULL for nowhere. */
static void leads(struct image *image, const char *path, bool follow, const char *to)
{
    const struct tree_links all = {target_of, image};
    uint32_t wanted = to ? tree_at(image->tree, to) : TREE_NONE;
    uint32_t got = tree_walk(image->tree, &all, TREE_ROOT, path, strlen(path), follow);

    if (got != wanted)
        fail_msg("%s leads to node %u, not %u", path, got, wanted);
}

static void links_are_followed_as_in_a_container(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_tree_ struct tree *tree = tree_new(&err);
    struct image image = {.tree = tree};

    (void)state;
    assert_non_null(tree);
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
        (void)tree_at(tree, links[i][0]);
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        (void)tree_at(tree, paths[i]);
    leads(&image, "", true, "");
    leads(&image, "/real/usr/lib/m", true, "real/usr/lib/m");
    leads(&image, "lib/m", false, "real/usr/lib/m");
    leads(&image, "lib", false, "lib");
    leads(&image, "lib/", false, "real/usr/lib");
    leads(&image, "up/../../m", true, NULL);
    leads(&image, "up/rel", true, "real/usr/x");
    leads(&image, "abs", true, "real/usr/lib/m");
    leads(&image, "through", true, "real/usr/lib");
    leads(&image, "loop", true, NULL);
    leads(&image, "gone", true, NULL);
    free(image.target);
}

UNIT_SUITE(test_tree_walk)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_followed_as_in_a_container),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
