/*
 * Computes the digest of bytes that pass through a thread (a blob that it inflates or writes). The
 * bytes are copied for the hasher's thread, which hashes two streams at a time in less time than
 * one after the other.
 */
#ifndef FLATTEN_DIGESTER_H
#define FLATTEN_DIGESTER_H

#include "flatten/stream/hasher.h"

struct digester;

/* The hasher is borrowed; NULL: the calling thread hashes. */
struct digester *digester_new(struct hasher *hasher, struct err *err) must_check;

/* Frees the digester, also before its end. */
void digester_free(struct digester *d);

DEFINE_CLEANUP(digester, struct digester, digester_free)
#define _cleanup_digester_ _cleanup_(cleanup_digester)

/* Adds bytes. Waits if the hasher is behind. */
int digester_update(struct digester *d, const void *data, size_t len, struct err *err) must_check;

/* Returns the digest of all bytes; called once. */
int digester_finish(struct digester *d, struct digest *out, struct err *err) must_check;

#endif
