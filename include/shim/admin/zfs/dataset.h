/* The dataset of ZFS on which a path lies, and its properties. */
#ifndef SHIM_ZFS_DATASET_H
#define SHIM_ZFS_DATASET_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/* Texts are in the arena; a property that this ZFS does not have is NULL. */
struct zfs_dataset {
    const char *name;
    const char *mountpoint; /* a path; else "none", "legacy" */
    const char *compression, *atime, *relatime, *xattr, *dedup, *dnodesize;
    uint64_t recordsize, used; /* bytes */
    uint64_t dedup_entries;    /* of the pool; read only if dedup is on, 0: not known */
};

/*
 * Finds the dataset of a path, or of the first directory above it that exists. *name is NULL if
 * that is on another file system. ERR_SYSTEM if the path does not answer in five seconds, or zfs
 * fails; ERR_FORMAT if zfs prints no name of a dataset.
 */
int zfs_dataset_of(const char *path, struct arena *arena, const char **name,
                   struct err *err) must_check;

/* Reads the properties of a dataset. */
int zfs_dataset_read(const char *name, struct arena *arena, struct zfs_dataset *out,
                     struct err *err) must_check;

#endif
