/*
 * A merged tree as a list of paths with all that counts about each: kind, mode, owner, times,
 * extended attributes, content (by SHA-256), link targets, and which paths are one file.
 */
#ifndef FLATTEN_LISTING_H
#define FLATTEN_LISTING_H

#include "base/buf.h"
#include "flatten/merge/merged.h"

#include <stdio.h>

struct listing;

/*
 * Reads an image's merged tree. `like`, which may be NULL, is another that it will be compared
 * with: what they have in common is there once, so that one must outlive this one.
 */
struct listing *listing_new(const struct image *image, const struct merged_options *options,
                            const struct listing *like, struct err *err) must_check;
void listing_free(struct listing *l);

DEFINE_CLEANUP(listing, struct listing, listing_free)
#define _cleanup_listing_ _cleanup_(cleanup_listing)

size_t listing_count(const struct listing *l);

/*
 * Called for each path that differs: what each side has, in words; NULL where a side has nothing.
 */
typedef void listing_difference(void *ctx, const char *path, const char *a, const char *b);

/* Compares; returns the number of paths that differ. */
size_t listing_compare(const struct listing *a, const struct listing *b, listing_difference *report,
                       void *ctx);

#endif
