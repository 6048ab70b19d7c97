/* The file system of a directory, as far as containers care. */
#ifndef SHIM_FILE_SYSTEM_H
#define SHIM_FILE_SYSTEM_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
    bool read_only;
    bool rotating;      /* the disk says that it is, and is not virtual */
    bool untyped;       /* directories do not tell the types of entries */
    bool no_dir_index;  /* ext4: directories are searched from their beginning */
    bool no_extents;    /* ext4: each block of a file has an entry of its own */
    dev_t disk;         /* its device, for btrfs the first one; major 0: it has none */
    dev_t file_system;  /* st_dev */
    double lookup_time; /* network: seconds for a missing name; 0: not measured */
};

/* Finds out about an open directory what is known without a measurement. */
int file_system_of(int dirfd, struct file_system *out, struct err *err) must_check;

/* ---- with patience for directories that hang ---- */

struct file_system_look {
    const char *home; /* NULL, or `path` is relative to it, and no link leads out of it */
    const char *path;
    bool or_above; /* of a path that does not exist, the first directory above it */
    unsigned milliseconds;
};

struct file_system_seen {
    int error;          /* errno of opening the directory; 0: the rest is valid */
    size_t path_len;    /* the part of `path` that was found */
    const char *driver; /* "vfs" or "fuse-overlayfs", if it is a store with such images; static */
    struct file_system is; /* with lookup_time */
};

/*
 * Looks at a directory in a child. Returns 0 with an answer, 1 if there was none in time, -1 if
 * there can be no child.
 */
int file_system_look(const struct file_system_look *look, struct file_system_seen *out,
                     struct err *err) must_check;

/* ---- measured ---- */

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
