/* The file system of a directory, as far as containers care. */
#ifndef SHIM_FILE_SYSTEM_H
#define SHIM_FILE_SYSTEM_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum file_system_kind {
    FILE_SYSTEM_LOCAL,
    FILE_SYSTEM_NETWORK,
    FILE_SYSTEM_MEMORY,
    FILE_SYSTEM_OVERLAY
};

struct file_system {
    const char *name; /* "ext4"; static */
    enum file_system_kind kind;
    uint64_t bytes, bytes_free;   /* free: to users other than root */
    uint64_t inodes, inodes_free; /* 0: made as they are needed */
    bool rotating;                /* the disk says that it is */
    bool untyped;                 /* directories do not tell the types of entries */
};

/* Finds it out about an open directory. */
int file_system_of(int dirfd, struct file_system *out, struct err *err) must_check;

/* A copy of a file as overlayfs makes it when a container first writes to it. */
struct copy_cost {
    bool shares;    /* the file system shares blocks: no byte was copied */
    uint64_t bytes; /* that were copied; fewer than asked for on a slow disk */
    double seconds;
};

/*
 * Copies up to `bytes` between two files without names in the directory, and flushes the copy; it
 * ends after a second. ERR_UNSUPPORTED where there are no such files.
 */
int copy_cost_measure(int dirfd, uint64_t bytes, struct copy_cost *out, struct err *err) must_check;

#endif
