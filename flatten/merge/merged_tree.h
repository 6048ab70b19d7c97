/*
 * Merges by the kernel: the entries come from a mount of the image's layers, which another process
 * walks.
 */
#ifndef FLATTEN_MERGED_TREE_H
#define FLATTEN_MERGED_TREE_H

#include "flatten/image/image.h"
#include "flatten/layer/entry_sink.h"
#include "flatten/merge/tree/merged_options.h"

/*
 * Walks image->tree. As merged_entries (merged.h), without kept layers, in the semantics of
 * overlayfs.
 */
int merged_tree(const struct image *image, struct entry_sink *sink, struct merged_report *report,
                struct err *err) must_check;

#endif
