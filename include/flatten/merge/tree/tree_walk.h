/*
 * Paths in the tree of an image, walked as in a container: symbolic links are followed, and no ".."
 * leads out of the root.
 */
#ifndef FLATTEN_TREE_WALK_H
#define FLATTEN_TREE_WALK_H

#include "flatten/merge/tree/tree.h"

/* Reads the symbolic links of a tree. */
struct tree_links {
    /* Returns the target of the symbolic link at the node, valid until the next call; else NULL. */
    const char *(*target)(void *ctx, uint32_t node);
    void *ctx;
};

/*
 * Returns the node of a path, or TREE_NONE: also where it has too many links (symlink_budget.h). A
 * relative path starts at `from`. The last component is followed only with `follow`.
 */
uint32_t tree_walk(const struct tree *tree, const struct tree_links *links, uint32_t from,
                   const char *path, size_t len, bool follow) must_check;

#endif
