/* Stores of images on ZFS, and the snapshots of their datasets. */
#ifndef SHIM_ZFS_SNAPSHOTS_H
#define SHIM_ZFS_SNAPSHOTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Texts are in the arena that finds it. */
struct zfs_store {
    const char *path; /* without symbolic links */
    const char *dataset;
    const char *mount;  /* where the dataset is mounted: path, or a directory above it */
    const char *inside; /* path beneath mount; "." if it is mount */
    bool own;           /* the dataset holds nothing but the store */
};

struct zfs_stores {
    struct zfs_store *list;
    size_t count;
};

struct zfs_snapshot {
    const char *name;          /* without the dataset */
    uint64_t used, referenced; /* bytes: freed with it; seen in it */
    uint64_t creation;         /* seconds since 1970 */
};

struct zfs_snapshots {
    struct zfs_snapshot *list;
    size_t count;
};

/* Adds the store if it exists and lies on ZFS. */
int zfs_stores_add(struct zfs_stores *stores, const char *path, struct arena *arena,
                   struct err *err) must_check;

/* Lists the snapshots of a dataset, the oldest first. */
int zfs_snapshots_list(const char *dataset, struct arena *arena, struct zfs_snapshots *out,
                       struct err *err) must_check;

/* Returns the snapshot of that name, or NULL. */
const struct zfs_snapshot *zfs_snapshots_find(const struct zfs_snapshots *list, const char *name);

/*
 * Takes a snapshot of the stores' datasets: one call of zfs, and so one moment, for the stores of a
 * pool that have datasets of their own (with the datasets below, -r), and another for the others.
 * Appends each command to `said`, one a line; with `dry`, runs none. Nothing is run if a snapshot
 * of that name exists. ERR_USAGE for a name that is none, or exists.
 */
int zfs_snapshots_take(const struct zfs_stores *stores, const char *name, bool dry,
                       struct arena *arena, struct buf *said, struct err *err) must_check;

/* Returns the bytes written to the dataset since a snapshot; false if ZFS does not tell. */
bool zfs_written_since(const char *dataset, const char *snapshot, uint64_t *out);

#endif
