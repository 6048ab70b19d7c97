/* Applies a layer's entries to the tree that an index is built of. */
#ifndef FLATTEN_MERGE_INDEX_ENTRY_H
#define FLATTEN_MERGE_INDEX_ENTRY_H

#include "flatten/merge/index/merge_index_builder.h"

/*
 * Applies one entry of b->layer to b->own. Sets b->divergence, and b->entered for a regular file.
 * An entry that contradicts its layer is ERR_FORMAT.
 */
int merge_index_apply(struct index_builder *b, const struct layer_entry *e,
                      struct err *err) must_check;

#endif
