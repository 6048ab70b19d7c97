/*
 * A hash for tables, keyed by a random number of the process: input that makes its buckets collide
 * cannot be prepared. Its values must not leave the process, except those by a constant key.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the hash of the bytes and of `more`, such as the number of a parent. */
uint64_t hash_bytes(const void *data, size_t len, uint64_t more);

/*
 * The same with a key of the caller: hash_key()'s, kept for many short texts, as finding it takes
 * longer than hashing one; or a constant, for values that other processes of this machine compute.
 */
struct hash_key {
    uint64_t part[2];
};

/* The constant for such values: the first bits of pi. */
extern const struct hash_key hash_key_shared;

/* Returns the key of this process. */
struct hash_key hash_key(void);
/* As hash_bytes, with the key at hand. */
uint64_t hash_bytes_by(const struct hash_key *by, const void *data, size_t len, uint64_t more);

/* A hash of bytes that come in pieces; the cuts do not matter. */
struct hash_stream {
    uint64_t key[2], lane[2];
    uint64_t len;
    unsigned char rest[16]; /* len % 16 bytes that wait for more */
};

/* Starts a hash. */
void hash_stream_begin(struct hash_stream *h);
/* Adds bytes. */
void hash_stream_add(struct hash_stream *h, const void *data, size_t len);
/* Returns the hash of all bytes. The stream is used up. */
uint64_t hash_stream_end(struct hash_stream *h);

#endif
