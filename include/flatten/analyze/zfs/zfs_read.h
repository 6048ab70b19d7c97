/*
 * A prediction (zfs.h) for what an image shows, all in all and by top directory: those in which
 * most bytes lie, at most two names deep.
 */
#ifndef FLATTEN_ZFS_READ_H
#define FLATTEN_ZFS_READ_H

#include "flatten/analyze/bytes/contents.h"
#include "flatten/analyze/zfs/dedup.h"
#include "flatten/analyze/zfs/zfs.h"

enum { ZFS_DIRS = 12, ZFS_SAMPLE = 2048, ZFS_LARGE = 1 << 20 };

struct zfs_dir {
    uint32_t node;
    uint64_t bytes;   /* of the files that show below it, and in none of the other dirs */
    uint64_t large;   /* of those of them that have ZFS_LARGE bytes */
    uint64_t padding; /* zeros that these would end in with records of that size */
    uint64_t records; /* of all of them */
    struct zfs_sums sums;
};

struct zfs_report {
    size_t record;
    uint64_t files;                /* that show and have bytes */
    struct zfs_dir all;            /* of them all; node: the root */
    struct zfs_dir dirs[ZFS_DIRS]; /* most bytes first */
    size_t dir_count;
    bool deduped;
    struct dedup_report dedup;
};

/*
 * Reads what shows. `sample`: compress about so many records, 0: all. With `dedup`, all records are
 * read and counted there; otherwise only those of the sample.
 */
int zfs_read(const struct image *image, const struct layer_stack *s, size_t record, uint64_t sample,
             struct dedup *dedup, struct zfs_report *out, struct err *err) must_check;

#endif
