/*
 * Plans datasets on ZFS for an image's tree: one for the whole, and one for each top directory for
 * which other properties are better. Pure: computed from what zfs_read found. The properties:
 *
 * - recordsize: 1M if half of the bytes are in files of at least 1 MiB, for fewer and larger reads;
 *   but not if the padding of their last records stays uncompressed and is more than a twentieth.
 *   (A file smaller than a record has one record of its own size in any case.)
 * - compression: off if even zstd gains less than a twentieth, the sample's error included; zstd if
 *   it stores a tenth less than lz4, which is faster; else lz4.
 * - dedup: on if everything would be stored twice without it.
 *
 * Names of datasets have only characters that ZFS allows (zfs(8)); none needs quotes in a shell.
 */
#ifndef FLATTEN_ZFS_PLAN_H
#define FLATTEN_ZFS_PLAN_H

#include "flatten/analyze/zfs/zfs_read.h"

enum zfs_compression { ZFS_USE_OFF, ZFS_USE_LZ4, ZFS_USE_ZSTD, ZFS_USES };

extern const char *const zfs_use_key[ZFS_USES];

struct zfs_choice {
    size_t recordsize;
    enum zfs_compression compression;
};

struct zfs_dataset {
    struct zfs_dir dir; /* its files; of the whole, those that are in no other dataset */
    struct zfs_choice choice;
    char *name; /* owned: "tank/image/opt/models" */
};

struct zfs_plan {
    struct zfs_dataset list[1 + ZFS_DIRS]; /* the whole comes first */
    size_t count;
};

/* Frees the names of the datasets, and empties the plan. */
void zfs_plan_clear(struct zfs_plan *p);

/* Chooses properties for the files of one directory. */
struct zfs_choice zfs_choose(const struct zfs_dir *dir);

/* `image`: its name, or NULL. The caller clears *out, also after a failure. */
int zfs_plan_make(const struct zfs_report *z, const struct layer_stack *s, const char *image,
                  struct zfs_plan *out, struct err *err) must_check;

/* Appends "zfs create -p -o recordsize=1M … tank/image". `dedup`: what was found; or NULL. */
void zfs_plan_put_command(const struct zfs_dataset *d, const struct dedup_report *dedup,
                          struct buf *out);

/* Appends, in a line, why the properties were chosen. */
void zfs_plan_put_reason(const struct zfs_dataset *d, struct buf *out);

/* Appends, in a line, why deduplication is worth it or not. */
void zfs_plan_put_dedup_reason(const struct dedup_report *dedup, struct buf *out);

#endif
