/*
 * The facts of a layer's entry that decide what becomes of it when layers are merged: plain data,
 * without libarchive.
 */
#ifndef FLATTEN_ENTRY_INFO_H
#define FLATTEN_ENTRY_INFO_H

#include <stddef.h>
#include <stdint.h>

enum entry_kind {
    ENTRY_DIR,
    ENTRY_FILE,
    ENTRY_SYMLINK,
    ENTRY_HARDLINK,
    ENTRY_OTHER,    /* devices, FIFOs */
    ENTRY_WHITEOUT, /* path: what it hides */
    ENTRY_OPAQUE,   /* path: the directory */
};

struct entry_info {
    enum entry_kind kind;
    const char *path; /* clean and relative (path.h); "" is the root */
    size_t path_len;
    const char *link; /* hard link: the target, clean; symbolic link: the target, unchanged */
    size_t link_len;
    uint32_t ordinal;    /* the entry's number in its layer */
    uint32_t attributes; /* a hash of mode, owner, time and xattrs */
};

#endif
