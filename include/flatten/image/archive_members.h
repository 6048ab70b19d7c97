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

#include <archive.h>
#include <archive_entry.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct member {
    char *name; /* clean */
    char *link; /* where a symbolic or hard link points, as it stands; or NULL */
    bool hard;
    off_t offset;
    uint64_t size;

    /* in a feed (feed.h) */
    struct buf text;             /* its content, if it is a document */
    struct layer_record *record; /* or its headers, if it is a layer, */
    struct digest diff_id;       /* and what it is, unpacked */
};

struct members {
    int fd; /* owned: the archive, uncompressed; -1 in a feed */
    struct member *list;
    size_t count, cap;
    uint32_t *by_name; /* open addressing: number of the member + 1, 0 for empty */
    size_t mask;
};

/* `path` ("-" for standard input) as it lies: a descriptor, or -1. No byte of it is read. */
int members_open_file(const char *path, bool *regular, struct err *err) must_check;

/*
 * The same uncompressed and seekable: a descriptor, the caller's, or -1. A copy in a file that
 * `spool` makes, where need be.
 */
int members_plain(int fd, bool regular, int (*spool)(void *ctx, struct err *err), void *ctx,
                  struct err *err) must_check;

/* Lists what is in an uncompressed archive. m->fd is set; the rest is zero. */
int members_scan(struct members *m, struct err *err) must_check;

/* Adds the member that `a` stands at; valid until the next is added. NULL with an error. */
struct member *members_add(struct members *m, struct archive *a, struct archive_entry *entry,
                           struct err *err) must_check;

/*
 * Makes what was added findable, in a table: a thousand layers may be looked for among a hundred
 * thousand members. Of two with one name the last counts.
 */
int members_index(struct members *m, struct err *err) must_check;

/* A name as members have it: the caller's, or NULL. */
char *members_clean_name(const char *text, struct err *err) must_check;

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
