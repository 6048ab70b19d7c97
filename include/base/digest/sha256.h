/*
 * SHA-256 on libcrypto (which uses SHA-NI), and OCI digests "sha256:<64 hex digits>"
 * (image-spec descriptor.md#digests).
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SHA256_SIZE = 32,
    DIGEST_SIZE = sizeof("sha256:") - 1 + 2 * SHA256_SIZE + 1, /* text with its NUL */
};

struct digest {
    char text[DIGEST_SIZE];
};

/* A hash being computed. */
struct sha256;

/* Starts a hash, which the caller frees with sha256_free. Returns NULL without memory. */
struct sha256 *sha256_new(struct err *err) must_check;
/* Adds bytes. */
int sha256_update(struct sha256 *hash, const void *data, size_t len, struct err *err) must_check;
/* Sets *out to the digest of everything so far and starts the hash afresh. */
int sha256_finish(struct sha256 *hash, struct digest *out, struct err *err) must_check;
/* The same with the first `len` bytes of the digest, at most SHA256_SIZE, in binary. */
int sha256_finish_bytes(struct sha256 *hash, void *out, size_t len, struct err *err) must_check;
/* Frees a hash. */
void sha256_free(struct sha256 *hash);

DEFINE_CLEANUP(sha256, struct sha256, sha256_free)
#define _cleanup_sha256_ _cleanup_(cleanup_sha256)

/* Sets *out to the digest of `len` bytes in memory. */
int sha256_digest(const void *data, size_t len, struct digest *out, struct err *err) must_check;

/*
 * Checks that text is exactly "sha256:" and 64 lower-case hex digits, and copies it. Anything else,
 * other algorithms included, is ERR_FORMAT: the result is safe as part of a path.
 */
int digest_parse(const char *text, struct digest *out, struct err *err) must_check;
/* Returns true if both are the same. */
bool digest_equal(const struct digest *a, const struct digest *b);
/* Returns the 64 digits, within the digest. */
const char *digest_hex(const struct digest *d);

/* Writes the first `len` bytes of the digest, at most SHA256_SIZE, in binary. */
void digest_bytes(const struct digest *d, unsigned char *out, size_t len);

/* Sets *out to the digest of which these are the SHA256_SIZE bytes. */
void digest_of_bytes(const unsigned char *bytes, struct digest *out);

#endif
