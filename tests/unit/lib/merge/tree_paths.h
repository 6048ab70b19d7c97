/* Nodes of a tree by their paths. */
#ifndef TESTS_TREE_PATHS_H
#define TESTS_TREE_PATHS_H

#include "tests/unit/lib/unit.h"

#include "flatten/merge/tree/tree.h"

/* Returns the node of a path ("a/b"; "" is the root), which is added if it is not there. */
static inline uint32_t tree_at(struct tree *tree, const char *path)
{
    struct err err = ERR_INIT;
    uint32_t node = TREE_ROOT;

    while (*path) {
        size_t len = strcspn(path, "/");
        node = tree_child(tree, node, path, len, &err);
        assert_int_not_equal(node, TREE_NONE);
        path += len + (path[len] == '/');
    }
    return node;
}

#endif
