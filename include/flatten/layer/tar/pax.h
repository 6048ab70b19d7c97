/*
 * Writes an entry's tar header: PAX records for values that a ustar block cannot hold, then the
 * ustar block (POSIX pax, "ustar Interchange Format" and "pax Extended Header"). Pure: the same
 * entry gives the same bytes.
 *
 * The records are those that Go's archive/tar reads, and through it the engines: path, linkpath,
 * size, uid, gid, uname, gname, mtime and SCHILY.xattr, with names and values unchanged. Access and
 * change times, ACLs in libarchive's own form, file flags and sparse maps are not written.
 */
#ifndef FLATTEN_PAX_H
#define FLATTEN_PAX_H

#include "base/buf.h"
#include "base/err.h"

#include <archive_entry.h>

/*
 * Appends the header blocks to `out`; the caller writes the content after them, and zeros up to a
 * whole block. ERR_FORMAT for an entry that tar cannot express.
 */
int pax_header(struct archive_entry *entry, struct buf *out, struct err *err) must_check;

#endif
