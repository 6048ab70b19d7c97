/*
 * One thread that hashes (SHA-256) what passes through relays, two at a time: what a layer is
 * checked against and what the new layer will be called (sha256_pair.h). Where only one has
 * something to hash, a backlog of what can be hashed at any time is the other.
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

/*
 * Who has one calls from the hasher's thread: take finds a piece, or none (false); give_back is
 * told how much of it was hashed, and the error (or NULL).
 */
struct hash_backlog {
    bool (*take)(void *ctx, struct hash_piece *out);
    void (*give_back)(void *ctx, const struct hash_piece *piece, const struct err *failure);
    void *ctx;
};

/* Borrowed, until NULL is in its place. */
void hasher_set_backlog(struct hasher *h, const struct hash_backlog *backlog);

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
