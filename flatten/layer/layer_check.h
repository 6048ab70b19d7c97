/*
 * Checks the blob of one layer: reads it from its file piece by piece, and at its end compares the
 * hash with the layer's digest; for an uncompressed layer with its diff_id, too. The caller hashes
 * the pieces, so that it can hash those of two layers side by side (hash_pieces). For a compressed
 * layer that arrives from a registry it only waits: the keeper checks it.
 */
#ifndef FLATTEN_LAYER_CHECK_H
#define FLATTEN_LAYER_CHECK_H

#include "flatten/image/image.h"
#include "flatten/stream/hasher.h"
#include "flatten/stream/stream.h"

struct layer_check {
    const struct layer *layer; /* borrowed; NULL: none */
    struct stream *blob;       /* or NULL, when layer_check_begin failed */
    struct sha256_lane hash;
};

/* Begins to check a layer; *c must have none. layer_check_end must follow, also after a failure. */
int layer_check_begin(struct layer_check *c, const struct layer *layer, struct err *err) must_check;

/*
 * Returns 1 with the next piece to be hashed (its owner is c), 0 at the end if the digests match,
 * or -1 if they do not or the blob cannot be read. The message names the layer.
 */
int layer_check_next(struct layer_check *c, struct hash_piece *out, struct err *err) must_check;

/* Goes on by `len` bytes of the piece, which were hashed. */
void layer_check_advance(struct layer_check *c, size_t len);

/* Ends the check; *c then has no layer. */
void layer_check_end(struct layer_check *c);

#endif
