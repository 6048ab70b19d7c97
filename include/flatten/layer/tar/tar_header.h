/*
 * Corrects libarchive's reading of a tar header where Go's archive/tar, with which engines unpack
 * layers, reads the same bytes differently.
 */
#ifndef FLATTEN_TAR_HEADER_H
#define FLATTEN_TAR_HEADER_H

#include "base/cleanup.h"
#include "base/err.h"

#include <archive_entry.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Facts of an entry's bytes that its header does not show. */
struct tar_facts {
    uint64_t stored; /* size of the content that the archive has behind them, which is not that of
                        a sparse file; a map in front of the content (PAX 1.0) is part of them */
    bool acl;        /* there is an ACL of tar's own form, which engines do not read */
};

/*
 * Corrects `header`, which libarchive made of `bytes`: an entry's header blocks, extensions first
 * (POSIX pax, GNU tar(5)).
 *  - an entry type that engines do not know is ERR_FORMAT, as is a NUL in a PAX path, and a time
 *    that does not fit into 64 bits and is before 1970;
 *  - type '0' is a file, even if its name ends in '/' (only type NUL, of v7, is then a directory);
 *  - the mode is 12 bits of the header, as chmod(2) takes them, whatever an ACL says;
 *  - a symbolic link's target is that of its PAX record, even if the header has none;
 *  - extended attributes are those of SCHILY.xattr records, not of LIBARCHIVE.xattr, and not the
 *    label of RHT.security.selinux.
 */
int tar_header_correct(const unsigned char *bytes, size_t len, struct archive_entry *header,
                       struct tar_facts *facts, struct err *err) must_check;

#endif
