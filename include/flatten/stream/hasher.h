/*
 * A thread that computes the SHA-256 of the bytes that pass through relays, of two at a time
 * (sha256_pair.h): those of a layer that is checked, and those of the new layer. Processors without
 * SHA instructions get two threads instead.
 */
#ifndef FLATTEN_HASHER_H
#define FLATTEN_HASHER_H

#include "base/digest/sha256_pair.h"
#include "flatten/stream/relay.h"

struct hasher;

/* Starts the threads. NULL on failure. */
struct hasher *hasher_new(struct err *err) must_check;

/* Stops the threads. All lanes must have been freed. */
void hasher_free(struct hasher *h);

DEFINE_CLEANUP(hasher, struct hasher, hasher_free)
#define _cleanup_hasher_ _cleanup_(cleanup_hasher)

/* Returns the hub that the relays must be made with. */
struct hub *hasher_hub(struct hasher *h);

/* Bytes of one stream to be hashed; all borrowed. */
struct hash_piece {
    struct sha256_lane *hash;
    const unsigned char *data;
    size_t len;
    void *owner; /* for the caller of hash_pieces */
};

/*
 * Hashes one piece; or two side by side, as many whole blocks of SHA-256 as the shorter has, or if
 * it has none, the shorter alone. Sets each `len` to the bytes that were hashed, perhaps 0.
 */
int hash_pieces(struct hash_piece *pieces, unsigned count, struct err *err) must_check;

struct hash_lane; /* a relay that is hashed */

/* Hashes all that passes through the relay, as its consumer of that number. NULL on failure. */
struct hash_lane *hash_lane_new(struct hasher *h, struct relay *relay, unsigned consumer,
                                struct err *err) must_check;

/* Waits for the relay's end. Returns its error, if it ended with one. */
int hash_lane_finish(struct hash_lane *lane, struct digest *out, struct err *err) must_check;

/* The relay must have ended, or be stopped. */
void hash_lane_free(struct hash_lane *lane);

DEFINE_CLEANUP(hash_lane, struct hash_lane, hash_lane_free)

#endif
