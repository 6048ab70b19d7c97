/*
 * One thread that hashes (SHA-256) what passes through relays, two at a time: what a layer is
 * checked against and what the new layer will be called (sha256_pair.h).
 */
#ifndef FLATTEN_HASHER_H
#define FLATTEN_HASHER_H

#include "base/digest/sha256_pair.h"
#include "flatten/stream/relay.h"

struct hasher;

struct hasher *hasher_new(struct err *err) must_check;
/* All lanes are freed. */
void hasher_free(struct hasher *h);

DEFINE_CLEANUP(hasher, struct hasher, hasher_free)
#define _cleanup_hasher_ _cleanup_(cleanup_hasher)

/* The relays to be hashed belong to it. */
struct hub *hasher_hub(struct hasher *h);

/* Bytes of one stream that wait to be hashed. */
struct hash_piece {
    struct sha256_lane *hash;
    const unsigned char *data;
    size_t len;
    void *owner; /* whoever made the piece knows */
};

/*
 * One, or two side by side as far as the shorter goes in whole blocks of SHA-256, or that one's odd
 * end: what was hashed becomes their `len`, which can be 0 for one of two.
 */
int hash_pieces(struct hash_piece *pieces, unsigned count, struct err *err) must_check;

struct hash_lane;

/* Hashes all that goes through the relay, as this consumer of it. */
struct hash_lane *hash_lane_new(struct hasher *h, struct relay *relay, unsigned consumer,
                                struct err *err) must_check;

/* Waits for the relay's end. */
int hash_lane_finish(struct hash_lane *lane, struct digest *out, struct err *err) must_check;

/* The relay has ended, or is stopped. */
void hash_lane_free(struct hash_lane *lane);

DEFINE_CLEANUP(hash_lane, struct hash_lane, hash_lane_free)

#endif
