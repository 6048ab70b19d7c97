/*
 * The digest of bytes that a thread comes by on its way (a blob that it inflates, or writes): it
 * copies them for the hasher's thread, which hashes them beside other streams in less time than
 * they take alone, instead of hashing them itself.
 */
#ifndef FLATTEN_DIGESTER_H
#define FLATTEN_DIGESTER_H

#include "flatten/stream/hasher.h"

struct digester;

/* The hasher is borrowed; NULL: the caller's thread does it. */
struct digester *digester_new(struct hasher *hasher, struct err *err) must_check;
void digester_free(struct digester *d);

DEFINE_CLEANUP(digester, struct digester, digester_free)
#define _cleanup_digester_ _cleanup_(cleanup_digester)

/* Waits where the hasher is behind. */
int digester_update(struct digester *d, const void *data, size_t len, struct err *err) must_check;

/* Of all that it was given, once. */
int digester_finish(struct digester *d, struct digest *out, struct err *err) must_check;

#endif
