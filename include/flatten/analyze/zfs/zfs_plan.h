/*
 * Which datasets an image's tree should lie in on ZFS, and with which properties: one for all of
 * it, and one for each top directory that is better off otherwise. Pure: from what zfs_read found.
 *
 *   recordsize   1M where half of the bytes are in files that large, for fewer and larger reads;
 * but not where their last records' padding would not be compressed away and be more than a
 * twentieth. Files smaller than a record have one of their own size, whatever is set. compression
 * off where even zstd gains less than a twentieth, the sample's error included; zstd where it
 * stores a tenth less than lz4, which is faster, does; else lz4. dedup        on where everything
 * would be stored twice without it.
 *
 * Names of datasets are made of what ZFS allows in them (zfs(8)); none needs quotes in a shell.
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
    struct zfs_dir dir; /* what lies in it: the whole has what no other dataset takes */
    struct zfs_choice choice;
    char *name; /* owned: "tank/image/opt/models" */
};

struct zfs_plan {
    struct zfs_dataset list[1 + ZFS_DIRS]; /* the whole comes first */
    size_t count;
};

void zfs_plan_clear(struct zfs_plan *p);

/* For files of one directory. */
struct zfs_choice zfs_choose(const struct zfs_dir *dir);

/* `image`: its name, or NULL. The caller clears *out in any case. */
int zfs_plan_make(const struct zfs_report *z, const struct layer_stack *s, const char *image,
                  struct zfs_plan *out, struct err *err) must_check;

/* "zfs create -p -o recordsize=1M … tank/image". `dedup`: what was found; or NULL. */
void zfs_plan_put_command(const struct zfs_dataset *d, const struct dedup_report *dedup,
                          struct buf *out);

/* Why these properties, in a line; and why deduplication or not. */
void zfs_plan_put_reason(const struct zfs_dataset *d, struct buf *out);
void zfs_plan_put_dedup_reason(const struct dedup_report *dedup, struct buf *out);

#endif
