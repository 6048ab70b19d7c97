/*
 * A merged tree as a list of paths, each with kind, mode, owner, times, extended attributes,
 * content (by SHA-256), link target, and the paths that are the same file.
 */
#ifndef FLATTEN_LISTING_H
#define FLATTEN_LISTING_H

#include "base/buf.h"
#include "flatten/merge/merged.h"

#include <stdio.h>

struct listing;

/*
 * Reads an image's merged tree. `like`, which may be NULL, is another that it will be compared
 * with: equal texts and inodes are shared with `like`, which must outlive this listing.
 */
struct listing *listing_new(const struct image *image, const struct merged_options *options,
                            const struct listing *like, struct err *err) must_check;

/* The same, without the attributes that an unpacked tree does not have (wire_xattr_is_of_host). */
struct listing *listing_new_unlabelled(const struct image *image,
                                       const struct merged_options *options,
                                       const struct listing *like, struct err *err) must_check;

/* Frees the listing; `like` stays. */
void listing_free(struct listing *l);

DEFINE_CLEANUP(listing, struct listing, listing_free)
#define _cleanup_listing_ _cleanup_(cleanup_listing)

/* Returns the number of paths. */
size_t listing_count(const struct listing *l);

/* Called for each path that differs, with what each side has, in words; NULL for nothing. */
typedef void listing_difference(void *ctx, const char *path, const char *a, const char *b);

/* Calls `report` for each path that differs. Returns how many there are. */
size_t listing_compare(const struct listing *a, const struct listing *b, listing_difference *report,
                       void *ctx);

/*
 * The same, where `retimed` paths are meant to differ in nothing but their time: if there are so
 * many of these, they are left out.
 */
size_t listing_compare_retimed(const struct listing *a, const struct listing *b, uint64_t retimed,
                               listing_difference *report, void *ctx);

#endif
