/*
 * SHA-256 of two byte streams side by side. The processor's instructions (SHA-NI) wait for each
 * other within one stream, so two at a time take little longer than one; libcrypto has no call for
 * that. FIPS 180-4; Intel, "New Instructions Supporting the Secure Hash Algorithm".
 */
#ifndef BASE_SHA256_PAIR_H
#define BASE_SHA256_PAIR_H

#include "base/digest/sha256.h"

#include <stdint.h>

enum { SHA256_BLOCK = 64 }; /* bytes that are hashed at a time */

struct sha256_lane {
    uint32_t state[8];
    uint64_t len;                     /* bytes so far, those that wait included */
    unsigned char rest[SHA256_BLOCK]; /* bytes that wait for their block to be full */
    struct sha256 *fallback; /* libcrypto's hash, if the processor lacks the instructions */
};

/*
 * Returns true if this processor has the instructions. If not, the functions below use libcrypto,
 * one stream after the other.
 */
bool sha256_pair_supported(void);

/*
 * Starts the hash of one stream. The caller calls sha256_lane_clear, also after sha256_lane_finish.
 */
int sha256_lane_init(struct sha256_lane *lane, struct err *err) must_check;
/* Frees what a lane holds. */
void sha256_lane_clear(struct sha256_lane *lane);

/* Adds bytes to one stream. */
int sha256_lane_update(struct sha256_lane *lane, const void *data, size_t len,
                       struct err *err) must_check;

/* Adds that many zeros. */
int sha256_lane_zeros(struct sha256_lane *lane, uint64_t len, struct err *err) must_check;

/* Adds `len` bytes to each stream; side by side if both are at the end of a block. */
int sha256_pair_update(struct sha256_lane *a, const void *data_a, struct sha256_lane *b,
                       const void *data_b, size_t len, struct err *err) must_check;

/* Adds the same bytes to two streams, side by side whatever was added to them before. */
int sha256_twin_update(struct sha256_lane *a, struct sha256_lane *b, const void *data, size_t len,
                       struct err *err) must_check;

/* Sets *out to the digest of all bytes. The lane starts again. */
int sha256_lane_finish(struct sha256_lane *lane, struct digest *out, struct err *err) must_check;

/* As sha256_lane_finish: sets `len` bytes, at most SHA256_SIZE, to the first of the digest. */
int sha256_lane_finish_bytes(struct sha256_lane *lane, void *out, size_t len,
                             struct err *err) must_check;

#endif
