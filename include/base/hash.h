/*
 * A hash for tables, keyed by a random number of the process: input that makes its buckets collide
 * cannot be prepared. Not for anything that leaves the process, nor that must come out the same.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* `more` goes into the hash beside the bytes, such as the number of a parent. */
uint64_t hash_bytes(const void *data, size_t len, uint64_t more);

#endif
