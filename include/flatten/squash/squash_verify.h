/* Verifies, before a squashed image is published, that it unpacks to the tree of its source. */
#ifndef FLATTEN_SQUASH_VERIFY_H
#define FLATTEN_SQUASH_VERIFY_H

#include "flatten/squash/listing.h"
#include "flatten/squash/squash.h"

/*
 * Reads source and result whole, content included. Calls `report` for each path that differs;
 * *differing: how many there are. `retimed` paths have another time, as listing_compare_retimed.
 */
int squash_verify(const struct image *source, const struct squashed *squashed,
                  const struct merged_options *options, uint64_t retimed,
                  listing_difference *report, void *ctx, size_t *differing,
                  struct err *err) must_check;

#endif
