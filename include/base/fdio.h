/*
 * Reads and writes whole files. Every descriptor opened here is CLOEXEC.
 */
#ifndef BASE_FDIO_H
#define BASE_FDIO_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <dirent.h>
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

/* Opens a directory for reading; a symbolic link is an error. Returns -1 with errno. */
int fd_open_directory(int dirfd, const char *path) must_check;

/* Opens a directory in the same way to list it, from the beginning. Returns NULL with errno. */
DIR *fd_list_directory(int dirfd, const char *path) must_check;

/*
 * Appends everything from fd's position to its end to `out`. If there are more than `limit` bytes,
 * appends `limit` of them and fails with ERR_LIMIT.
 */
int fd_read_all(int fd, size_t limit, struct buf *out, struct err *err) must_check;

/* As fd_read_all, for a caller that has called fstat(2) already; the position is the beginning. */
int fd_read_file(int fd, const struct stat *st, size_t limit, struct buf *out,
                 struct err *err) must_check;

/*
 * As fd_read_all for a regular file that was just opened; ERR_FORMAT for any other. An `fd` with
 * O_PATH is opened for reading only then: so no FIFO waits, and no device does anything.
 */
int fd_read_regular(int fd, size_t limit, struct buf *out, struct err *err) must_check;

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

#endif
