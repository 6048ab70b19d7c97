/* A layer's blob (struct layer, image.h) as streams. */
#ifndef FLATTEN_LAYER_BLOB_H
#define FLATTEN_LAYER_BLOB_H

#include "flatten/image/image.h"
#include "flatten/stream/stream.h"

/*
 * Waits until the first `bytes` bytes of the blob are in its file, if it is still arriving. -1 with
 * the error of the transfer.
 */
int layer_await(const struct layer *layer, uint64_t bytes, struct err *err) must_check;

/* Returns the first `length` bytes of the blob, not checked. Reading waits for those to come. */
struct stream *layer_range(const struct layer *layer, uint64_t length, struct err *err) must_check;

/* Sets *kind to the compression that the first bytes of the blob show. */
int layer_compression(const struct layer *layer, enum compression *kind,
                      struct err *err) must_check;

/*
 * Sets *packed to whether the blob is compressed, without waiting for a blob that is still
 * arriving: a media type that says so is believed. It may be wrong: then the readers of the blob
 * find that there is nothing to decompress.
 */
int layer_is_packed(const struct layer *layer, bool *packed, struct err *err) must_check;

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
