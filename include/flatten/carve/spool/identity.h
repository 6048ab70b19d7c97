/* Recognises the same file, or directory, in two images (struct layout_identity). */
#ifndef FLATTEN_IDENTITY_H
#define FLATTEN_IDENTITY_H

#include "base/digest/sha256.h"
#include "flatten/carve/layout/layout_like.h"

#include <archive_entry.h>

/*
 * Starts the identity of an entry: type, mode, owner, time, device number, extended attributes and
 * the target of a symbolic link. Names of users and groups do not count, as no container sees them.
 * The content of a file, of the size in the header, follows by sha256_update. Inventories hold
 * identities (inventory.h): another rule needs another version of them.
 */
int identity_begin(struct sha256 *sha256, struct archive_entry *header, struct err *err) must_check;

/* Adds content; NULL data stands for zeros. */
int identity_add(struct sha256 *sha256, const void *data, uint64_t len, struct err *err) must_check;

/* Ends the identity. */
int identity_end(struct sha256 *sha256, struct layout_identity *out, struct err *err) must_check;

#endif
