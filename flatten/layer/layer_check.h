/*
 * One layer's blob on its way to a verdict: read block by block where it lies, hashed by whoever
 * has the time (so the hash lies open), compared with its digest at the end; with its diff_id, too,
 * where it lies uncompressed.
 */
#ifndef FLATTEN_LAYER_CHECK_H
#define FLATTEN_LAYER_CHECK_H

#include "base/digest/sha256_pair.h"
#include "flatten/image/image.h"

enum { LAYER_CHECK_BLOCK = 1024 * 1024 };

struct layer_check {
    const struct layer *layer; /* borrowed; NULL: none */
    struct sha256_lane hash;
    uint64_t read;  /* bytes of the layer */
    size_t at, len; /* what is to be hashed next: block + at, up to len */
    unsigned char block[LAYER_CHECK_BLOCK];
};

/* *c has no layer. On failure it has the layer, too, and is to be ended. */
int layer_check_begin(struct layer_check *c, const struct layer *layer, struct err *err) must_check;

/*
 * 1 with something to be hashed; 0 at the end, with the layer found right; -1: it is wrong, or
 * cannot be read. The message names the layer. Who has hashed a piece adds its length to c->at.
 */
int layer_check_next(struct layer_check *c, struct err *err) must_check;

/* *c has no layer any more. */
void layer_check_end(struct layer_check *c);

#endif
