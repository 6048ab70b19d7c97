/* Names of datasets and snapshots (zfs(8), zfsconcepts(7)): they become words of zfs. */
#ifndef SHIM_ZFS_NAMES_H
#define SHIM_ZFS_NAMES_H

#include <stdbool.h>

enum { ZFS_NAME_MOST = 255 }; /* bytes, a snapshot's with its dataset */

/*
 * Returns true for the name of a dataset: components of letters, digits, "_.:- " between slashes,
 * none empty, "." or "..", and the first one, the pool, begins with a letter.
 */
bool zfs_dataset_valid(const char *name);

/*
 * Returns true for the name of a snapshot, without its dataset: letters, digits and "_.:-", not
 * beginning with "-" or ".", at most 100 bytes.
 */
bool zfs_snapshot_valid(const char *name);

#endif
