/* Names that stay after a failure of power. */
#ifndef BASE_DIR_SYNC_H
#define BASE_DIR_SYNC_H

#include "base/cleanup.h"
#include "base/err.h"

/*
 * Writes the names in a directory to the disk (fsync(2)): after a rename. `path` is relative to
 * `dirfd`, which may be O_PATH; "." is that directory itself. A file system that does not know
 * fsync of directories (EINVAL, ENOTSUP; FUSE, 9p) and a directory that this user may not read are
 * no error.
 */
int dir_sync(int dirfd, const char *path, struct err *err) must_check;

#endif
