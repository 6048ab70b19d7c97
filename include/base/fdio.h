/*
 * Whole files and atomic replacement. Every descriptor opened here is CLOEXEC.
 */
#ifndef BASE_FDIO_H
#define BASE_FDIO_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * openat2(2) with O_CLOEXEC; `resolve` are its RESOLVE_ flags. Within a directory (RESOLVE_BENEATH,
 * RESOLVE_IN_ROOT) the kernel refuses ".." with EAGAIN whenever a file is renamed or a file system
 * is mounted anywhere on the host: then this tries again, up to a thousand times. Returns the
 * descriptor, or -1 with errno.
 */
int fd_open_within(int dir, const char *path, uint64_t flags, uint64_t resolve) must_check;

/*
 * Appends everything from fd's position to its end to `out`. If there are more than `limit` bytes,
 * appends `limit` of them and fails with ERR_LIMIT.
 */
int fd_read_all(int fd, size_t limit, struct buf *out, struct err *err) must_check;

/* As fd_read_all, for a caller that has called fstat(2) already; the position is the beginning. */
int fd_read_file(int fd, const struct stat *st, size_t limit, struct buf *out,
                 struct err *err) must_check;

/*
 * Appends a regular file, opened relative to dirfd (AT_FDCWD: the working directory). Fails with
 * ERR_FORMAT if it is not a regular file, with ERR_LIMIT beyond `limit` bytes.
 */
int file_read(int dirfd, const char *path, size_t limit, struct buf *out,
              struct err *err) must_check;

/* Writes all of data, through short writes and EINTR. */
int fd_write_all(int fd, const void *data, size_t len, struct err *err) must_check;

/* As fd_write_all, at a file offset and without moving the position. */
int fd_pwrite_all(int fd, const void *data, size_t len, off_t offset, struct err *err) must_check;

/* Reads exactly len bytes at offset. Fails with ERR_FORMAT if the file ends before. */
int fd_pread_exact(int fd, void *data, size_t len, off_t offset, struct err *err) must_check;

/*
 * Copies len bytes from one file to another, without moving positions; shares blocks if the file
 * system can. Fails with ERR_FORMAT if the source ends before.
 */
int fd_copy_range(int from, off_t from_offset, uint64_t len, int to, off_t to_offset,
                  struct err *err) must_check;

/*
 * A file that appears under its name whole or not at all: a temporary file beside it (O_EXCL,
 * random name that starts with a dot), written through `fd`, then fsync, checked close and rename.
 * If the process is killed before, the old file is untouched and the temporary one may stay:
 * atomic_file_sweep removes it. The temporary file is locked (flock(2)) as long as it is in use.
 */
struct atomic_file {
    int dirfd;     /* borrowed; must stay open until commit or abort */
    int fd;        /* owned; -1 when nothing is open */
    bool fleeting; /* set after begin: no fsync, for a file that is worthless after a crash */
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
 * is removed.
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
