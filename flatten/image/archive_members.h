/*
 * The members of a tar archive, docker-archive or oci-archive: listed once, then read where they
 * lie. An archive that is compressed whole, or a pipe, is copied first (members_plain). Names are
 * clean paths (base/path.h); of members with one name the last counts, as in tar; links are
 * followed inside the archive only.
 */
#ifndef FLATTEN_ARCHIVE_MEMBERS_H
#define FLATTEN_ARCHIVE_MEMBERS_H

#include "base/buf.h"
#include "base/digest/sha256.h"
#include "base/err.h"
#include "flatten/exchange/source.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct member {
    char *name; /* clean */
    char *link; /* target of a symbolic or hard link, as it stands in the archive; or NULL */
    bool hard;
    off_t offset;
    uint64_t size;
};

struct members {
    int fd; /* owned: the archive, uncompressed */
    struct member *list;
    size_t count, cap;
    uint32_t *by_name; /* open addressing: number of the member + 1, 0 for empty */
    size_t mask;
};

/*
 * Returns the archive in `fd` (borrowed) uncompressed and seekable: a descriptor, the caller's, or
 * -1. If it is compressed, or not `regular`, it is copied into a file that `spool` makes.
 */
int members_plain(int fd, bool regular, uint64_t max_ratio, spool_new *spool, void *ctx,
                  struct err *err) must_check;

/*
 * Lists the members of an uncompressed archive, at most 100,000. m->fd is set; the rest is zero.
 * ERR_FORMAT for what is no tar archive. The caller clears *m in any case.
 */
int members_scan(struct members *m, struct err *err) must_check;

/* Returns the member of that (clean) name, not following links; or NULL. */
const struct member *members_find(const struct members *m, const char *name);

/* Returns the member that `name` denotes, through links; or NULL with ERR_FORMAT. */
const struct member *members_lookup(const struct members *m, const char *name,
                                    struct err *err) must_check;

/* Appends the content of the member that `name` denotes. ERR_LIMIT for more than `limit` bytes. */
int members_read(const struct members *m, const char *name, size_t limit, struct buf *out,
                 struct err *err) must_check;

/* Frees the list and closes the archive. */
void members_clear(struct members *m);

#define _cleanup_members_ _cleanup_(members_clear)

#endif
