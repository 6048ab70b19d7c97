/*
 * A tar archive whose members are found once, then read where they lie: docker-archive and
 * oci-archive. An archive that is compressed whole, or a pipe, is spooled first. Names are clean
 * paths (base/path.h); of members with one name the last counts, as tar has it; links are followed
 * inside the archive only.
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
    char *link; /* where a symbolic or hard link points, as it stands; or NULL */
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
int members_plain(int fd, bool regular, spool_new *spool, void *ctx, struct err *err) must_check;

/* Lists what is in an uncompressed archive. m->fd is set; the rest is zero. */
int members_scan(struct members *m, struct err *err) must_check;

/* The member itself; NULL if there is none of that (clean) name. */
const struct member *members_find(const struct members *m, const char *name);

/* The member that `name` denotes, through links; NULL with an error. */
const struct member *members_lookup(const struct members *m, const char *name,
                                    struct err *err) must_check;

/* Appends its content; more than `limit` bytes is ERR_LIMIT. */
int members_read(const struct members *m, const char *name, size_t limit, struct buf *out,
                 struct err *err) must_check;

/* Closes the archive too. */
void members_clear(struct members *m);

#define _cleanup_members_ _cleanup_(members_clear)

#endif
