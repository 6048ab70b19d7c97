/* Walks paths through the symbolic links of the tree that an index is built of. */
#ifndef FLATTEN_MERGE_INDEX_WALK_H
#define FLATTEN_MERGE_INDEX_WALK_H

#include "flatten/merge/index/merge_index_builder.h"

/*
 * Returns the node of a path in b->own, through its symbolic links. With `make`, directories on the
 * way are made where they are missing. TREE_NONE: an error, or (b->ignored) a whiteout below a
 * whiteout.
 */
uint32_t merge_index_walk(struct index_builder *b, const char *path, size_t len, bool make,
                          struct err *err) must_check;

#endif
