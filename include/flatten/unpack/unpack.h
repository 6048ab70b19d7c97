/* Unpacks images: sends the merged tree of an image to the process that writes it (wire_tree.h). */
#ifndef FLATTEN_UNPACK_H
#define FLATTEN_UNPACK_H

#include "flatten/squash/listing.h"
#include "flatten/squash/squashed.h"

/*
 * Sends the tree through the pipe, and its end once all digests have been checked; with the pipe -1
 * only reads it. Of the options only `merged`, without kept layers, `compress.threads` and `files`
 * count. *report is filled anew. The caller closes the pipe.
 */
int unpack_image(struct image *image, const struct squash_options *options, int pipe,
                 struct merged_report *report, struct err *err) must_check;

/*
 * Compares the tree that was written with the image, content included. `walk`: the socket of a walk
 * of the directory (wire_entry.h), which the call takes. Calls `report` for each path that differs,
 * with what the directory has and what the image has; *differing: how many there are.
 */
int unpack_verify(const struct image *image, const struct merged_options *options, int walk,
                  listing_difference *report, void *ctx, size_t *differing,
                  struct err *err) must_check;

#endif
