/*
 * Files that somebody else named: an OCI layout may come from anywhere, and the keeper may read
 * more than those who made it. Only regular files below the directory are opened, and no symlink is
 * followed (openat2(2)).
 */
#ifndef FLATTEN_FILE_BENEATH_H
#define FLATTEN_FILE_BENEATH_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <sys/stat.h>

/*
 * Opens `path`, relative to `dir`, for reading; *st is its status. Returns a descriptor, or -1 with
 * ERR_SYSTEM, or with ERR_FORMAT for a symlink, on the way or at the end, and for a file that is
 * not regular. No FIFO and no device is opened: that alone could have effects.
 */
int file_beneath_open(int dir, const char *path, struct stat *st, struct err *err) must_check;

/* Appends such a file. ERR_LIMIT beyond `limit` bytes. */
int file_beneath_read(int dir, const char *path, size_t limit, struct buf *out,
                      struct err *err) must_check;

/*
 * Opens the directory of an engine's store, as O_PATH. ERR_UNSUPPORTED unless only root can have
 * put files there: who answers for the engine, and names the directory, may be anyone.
 */
int store_directory_open(const char *path, struct err *err) must_check;

#endif
