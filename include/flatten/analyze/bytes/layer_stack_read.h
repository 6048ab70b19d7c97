/*
 * Fills a layer stack from an image. The headers of all layers are read once, oldest layer first
 * (merge_index.h enters them); uncompressed payload is skipped. Digests are not checked: nothing is
 * published.
 */
#ifndef FLATTEN_LAYER_STACK_READ_H
#define FLATTEN_LAYER_STACK_READ_H

#include "flatten/analyze/bytes/kept_files.h"
#include "flatten/analyze/bytes/layer_stack.h"
#include "flatten/image/image.h"
#include "flatten/merge/index/merge_index.h"
#include "flatten/merge/tree/merged_options.h"

/*
 * Fills *out, which the caller clears, also after a failure. *index owns the tree that `out`
 * borrows: the caller frees it, after `out`. options->notice and its context (merged_options.h) may
 * be NULL. `kept`, or NULL, gets the content of the files that it wants.
 */
int layer_stack_read(const struct image *image, const struct merged_options *options,
                     struct kept_files *kept, struct layer_stack *out, struct merge_index **index,
                     struct merged_report *report, struct err *err) must_check;

#endif
