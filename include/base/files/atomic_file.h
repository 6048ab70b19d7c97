/*
 * A file that appears under its name whole or not at all: a temporary file beside it (O_EXCL,
 * random name that starts with a dot), written through `fd`, then fsync, checked close, rename and
 * fsync of the directory.
 * If the process is killed before, the old file is untouched and the temporary one may stay:
 * atomic_file_sweep removes it. The temporary file is locked (flock(2)) as long as it is in use.
 */
#ifndef BASE_ATOMIC_FILE_H
#define BASE_ATOMIC_FILE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct atomic_file {
    int dirfd;       /* borrowed; must stay open until commit or abort */
    int fd;          /* owned; -1 when nothing is open */
    bool fleeting;   /* set after begin: no fsync, for a file that is worthless after a crash */
    bool name_later; /* set after begin: no fsync of the directory, for a caller that does it for
                        several files, or for whom the old file is as good after a crash */
    char tmp[NAME_MAX + 1];
    char name[NAME_MAX + 1];
};

#define ATOMIC_FILE_INIT                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/*
 * Creates the temporary file. `name` is a single component in dirfd; `mode` is subject to the
 * umask, as in open(2).
 */
int atomic_file_begin(struct atomic_file *f, int dirfd, const char *name, mode_t mode,
                      struct err *err) must_check;

/*
 * Renames the temporary file to its name, in place of an older file. On failure the temporary file
 * is removed. Only if fsync of the directory fails does the file have its name nevertheless.
 */
int atomic_file_commit(struct atomic_file *f, struct err *err) must_check;

/* Removes the temporary file, if one is open. Safe on ATOMIC_FILE_INIT and after a commit. */
void atomic_file_abort(struct atomic_file *f);

/*
 * Removes the temporary files that killed processes left in a directory: regular files of this user
 * with such a name that nobody has locked. Returns how many these were; with `dry` they stay.
 */
size_t atomic_file_sweep(int dirfd, bool dry);

/* As atomic_file_sweep, for one entry of the directory. Returns true for such a file. */
bool atomic_file_sweep_one(int dirfd, const char *name, bool dry);

#define _cleanup_atomic_file_ _cleanup_(atomic_file_abort)

#endif
