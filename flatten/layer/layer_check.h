/*
 * One check of one layer's blob: reads the blob from its file piece by piece, and at its end
 * compares the hash with the layer's digest; for an uncompressed layer with its diff_id, too. The
 * caller hashes the pieces, so that it can hash those of two layers side by side (hash_pieces).
 */
#ifndef FLATTEN_LAYER_CHECK_H
#define FLATTEN_LAYER_CHECK_H

#include "flatten/image/image.h"
#include "flatten/stream/hasher.h"

struct layer_check {
    const struct layer *layer; /* borrowed; NULL: none */
    struct stream *blob;       /* or NULL, when layer_check_begin failed */
    struct sha256_lane hash;
};

/* *c has no layer. On failure it has the layer, too, and must be ended. */
int layer_check_begin(struct layer_check *c, const struct layer *layer, struct err *err) must_check;

/*
 * Returns 1 with the next piece to be hashed (its owner is c), 0 at the end if the layer is right,
 * or -1 if it is wrong or cannot be read. The message names the layer.
 */
int layer_check_next(struct layer_check *c, struct hash_piece *out, struct err *err) must_check;

/* `len` bytes of the piece were hashed. */
void layer_check_advance(struct layer_check *c, size_t len);

/* *c has no layer any more. */
void layer_check_end(struct layer_check *c);

#endif
