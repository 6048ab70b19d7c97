/*
 * Corrections to what libarchive makes of a tar header, by its bytes: where Go's archive/tar, with
 * which engines unpack layers, reads them differently.
 */
#ifndef FLATTEN_TAR_HEADER_H
#define FLATTEN_TAR_HEADER_H

#include "base/cleanup.h"
#include "base/err.h"

#include <archive_entry.h>
#include <stddef.h>

/*
 * `bytes` are an entry's header blocks, extensions first (POSIX pax, GNU tar(5)); `header` is what
 * libarchive made of them, and is corrected:
 *  - an entry type that engines do not know is ERR_FORMAT, as is a NUL in a PAX path;
 *  - type '0' is a file, even if its name ends in '/' (only type NUL, of v7, is then a directory);
 *  - a symbolic link's target is that of its PAX record even if the header has none;
 *  - of extended attributes only SCHILY.xattr records count, not LIBARCHIVE.xattr.
 */
int tar_header_correct(const unsigned char *bytes, size_t len, struct archive_entry *header,
                       struct err *err) must_check;

#endif
