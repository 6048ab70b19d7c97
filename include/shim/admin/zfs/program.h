/* Runs the programs of ZFS: without a shell, for a limited time, with an environment of two
 * variables. */
#ifndef SHIM_ZFS_PROGRAM_H
#define SHIM_ZFS_PROGRAM_H

#include "base/buf.h"

enum { ZFS_PATIENCE_MS = 9000 };

/*
 * Runs words[0] ("zfs" or "zpool", found in the system's directories of programs) with the words up
 * to NULL, and appends what it prints to `out`, which may be NULL. ERR_UNSUPPORTED if there is no
 * such program; ERR_SYSTEM with the first line of its complaint if it fails, or does not end within
 * ZFS_PATIENCE_MS: it is killed then, and left behind if the kernel holds it, as on a suspended
 * pool. ERR_LIMIT if it prints more than 16 MiB.
 */
int zfs_program(const char *const *words, struct buf *out, struct err *err) must_check;

#endif
