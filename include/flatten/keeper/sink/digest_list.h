/* A list of digests: of blobs that a destination has. */
#ifndef FLATTEN_DIGEST_LIST_H
#define FLATTEN_DIGEST_LIST_H

#include "base/digest/sha256.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: empty. */
struct digest_list {
    struct digest *list; /* owned */
    size_t count;
};

/* Adds a digest, which may be there already. */
int digest_list_add(struct digest_list *l, const struct digest *digest, struct err *err) must_check;

/* True if the digest is in the list. */
bool digest_list_has(const struct digest_list *l, const struct digest *digest);

/* Frees the digests. */
void digest_list_clear(struct digest_list *l);

#endif
