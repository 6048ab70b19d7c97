/*
 * Proves that what was written unpacks to the tree of its source, before it is published.
 */
#ifndef FLATTEN_SQUASH_VERIFY_H
#define FLATTEN_SQUASH_VERIFY_H

#include "flatten/squash/listing.h"
#include "flatten/squash/squash.h"

/*
 * Reads source and result whole, content included. *differing is the number of paths that differ;
 * `report` is called for each.
 */
int squash_verify(const struct image *source, const struct squashed *squashed,
                  const struct merged_options *options, listing_difference *report, void *ctx,
                  size_t *differing, struct err *err) must_check;

#endif
