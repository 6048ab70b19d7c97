/*
 * An entry's header as tar has it: a ustar block, behind PAX records for what that cannot say
 * (POSIX pax, "ustar Interchange Format" and "pax Extended Header"). Pure: the same entry gives the
 * same bytes.
 *
 * The records are those that Go's archive/tar reads, and through it the engines: path, linkpath,
 * size, uid, gid, uname, gname, mtime and SCHILY.xattr, whose names and values are written as they
 * are. Access and change times, ACLs in libarchive's own form, file flags and sparse maps are not
 * written.
 */
#ifndef FLATTEN_PAX_H
#define FLATTEN_PAX_H

#include "base/buf.h"
#include "base/err.h"

#include <archive_entry.h>

enum { PAX_BLOCK = 512 };

/* Appends the header blocks; content follows them, filled up with zeros to a whole block. */
int pax_header(struct archive_entry *entry, struct buf *out, struct err *err) must_check;

/* Zeros that fill up content of this size. */
static inline size_t pax_padding(uint64_t size)
{
    return (size_t)(-size & (PAX_BLOCK - 1));
}

#endif
