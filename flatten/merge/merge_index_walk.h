/* Walks paths through the symbolic links of the tree that an index is built of. */
#ifndef FLATTEN_MERGE_INDEX_WALK_H
#define FLATTEN_MERGE_INDEX_WALK_H

#include "flatten/merge/merge_index_builder.h"

/*
 * The node of a path, through the symbolic links that are there; TREE_NONE on failure, and with
 * b->ignored below a whiteout. With `make`, its parents are made.
 */
uint32_t merge_index_walk(struct index_builder *b, const char *path, size_t len, bool make,
                          struct err *err) must_check;

#endif
