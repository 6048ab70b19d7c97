/* Recognises the same file, or directory, in two images (struct layout_identity). */
#ifndef FLATTEN_IDENTITY_H
#define FLATTEN_IDENTITY_H

#include "base/digest/sha256_pair.h"
#include "flatten/carve/layout/like/layout_like.h"

#include <archive_entry.h>

/* An entry's identity but for its time, and the time. Of zeros: unknown. */
struct identity_stamp {
    struct layout_identity timeless;
    int64_t seconds;
    uint32_t nanoseconds;
};

/*
 * Starts the stamp of an entry: type, mode, owner, device number, extended attributes and the
 * target of a symbolic link. Names of users and groups do not count, as no container sees them. The
 * content of a file, of the size in the header, follows by identity_add. Inventories hold
 * identities (inventory.h): another rule needs another version of them.
 */
int identity_begin(struct sha256_lane *hash, struct archive_entry *header,
                   struct err *err) must_check;

/* Adds content; NULL data stands for zeros. */
int identity_add(struct sha256_lane *hash, const void *data, uint64_t len,
                 struct err *err) must_check;

/* Ends a stamp that gets its time later, from identity_stamp_of. */
int identity_timeless(struct sha256_lane *hash, struct layout_identity *out,
                      struct err *err) must_check;

/* Returns the stamp with the time of the header. */
struct identity_stamp identity_stamp_of(const struct layout_identity *timeless,
                                        struct archive_entry *header);

/* Ends the stamp, which gets the time of the header. */
int identity_end(struct sha256_lane *hash, struct archive_entry *header, struct identity_stamp *out,
                 struct err *err) must_check;

/* Sets *out to the identity of an entry with that stamp. Nothing else is being hashed. */
int identity_of_stamp(struct sha256_lane *hash, const struct identity_stamp *stamp,
                      struct layout_identity *out, struct err *err) must_check;

#endif
