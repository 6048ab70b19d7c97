/*
 * Strata of a real image. Headers are read once, oldest layer first (index.h does the entering);
 * payload that lies uncompressed is passed over. Digests are not checked: this measures, and
 * publishes nothing.
 */
#ifndef FLATTEN_LAYER_STACK_READ_H
#define FLATTEN_LAYER_STACK_READ_H

#include "flatten/analyze/bytes/layer_stack.h"
#include "flatten/image/image.h"
#include "flatten/merge/index.h"

/*
 * The table of the image. *index owns the tree that `out` borrows, and is freed after it. `notice`
 * and its context may be NULL (merged.h).
 */
int layer_stack_read(const struct image *image, const struct merged_options *options,
                     struct layer_stack *out, struct index **index, struct merged_report *report,
                     struct err *err) must_check;

#endif
