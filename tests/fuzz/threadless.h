/* For fuzz targets that threadless.c is linked to. */
#ifndef TESTS_THREADLESS_H
#define TESTS_THREADLESS_H

#include "base/digest/sha256.h"

#include <stddef.h>

/* Computes the digest of a layer as threadless.c does: not SHA-256, which takes longer. */
void threadless_digest(const void *data, size_t len, struct digest *out);

#endif
