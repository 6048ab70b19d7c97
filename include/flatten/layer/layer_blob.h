/* A layer's blob (struct layer, image.h) as streams. */
#ifndef FLATTEN_LAYER_BLOB_H
#define FLATTEN_LAYER_BLOB_H

#include "flatten/image/image.h"
#include "flatten/stream/stream.h"

/* Sets *kind to the compression that the first bytes of the blob show. */
int layer_compression(const struct layer *layer, enum compression *kind,
                      struct err *err) must_check;

/*
 * Returns the blob as it lies. It is checked against its digest (ERR_DIGEST at the end), unless
 * that is not known or the layer has a verifier.
 */
struct stream *layer_blob(const struct layer *layer, struct err *err) must_check;

/*
 * Returns the tar archive in the blob: decompressed, checked against layer->diff_id, no longer than
 * layer->max_size (ERR_LIMIT).
 */
struct stream *layer_tar(const struct layer *layer, struct err *err) must_check;

/*
 * Returns the tar archive without checking digest or size: for measuring, or where a verifier
 * checks. The stream of a blob that is not compressed can skip.
 */
struct stream *layer_tar_unchecked(const struct layer *layer, enum compression *kind,
                                   struct err *err) must_check;

#endif
