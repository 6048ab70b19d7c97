/*
 * Predicts compression (zfs.h) for the visible files of an image: for all of them, and for the top
 * directories with most bytes, at most two names deep.
 */
#ifndef FLATTEN_ZFS_READ_H
#define FLATTEN_ZFS_READ_H

#include "flatten/analyze/bytes/contents.h"
#include "flatten/analyze/zfs/dedup.h"
#include "flatten/analyze/zfs/zfs.h"

enum { ZFS_DIRS = 12, ZFS_SAMPLE = 2048, ZFS_LARGE = 1 << 20 };

struct zfs_dir {
    uint32_t node;
    uint64_t bytes;   /* of the visible files below it that are in no other of the dirs */
    uint64_t large;   /* of those of these files that have at least ZFS_LARGE bytes */
    uint64_t padding; /* zeros at the end of the large ones, in records of ZFS_LARGE */
    uint64_t records; /* of all these files */
    struct zfs_sums sums;
};

struct zfs_report {
    size_t record;
    uint64_t files;                /* visible ones that are not empty */
    struct zfs_dir all;            /* all of them; node: the root */
    struct zfs_dir dirs[ZFS_DIRS]; /* most bytes first */
    size_t dir_count;
    bool deduped; /* `dedup` is filled */
    struct dedup_report dedup;
};

/*
 * Reads the visible files. `sample`: how many records to compress, about; 0: all. With `dedup` all
 * records are read and counted there; with NULL only those of the sample are read.
 */
int zfs_read(const struct image *image, const struct layer_stack *s, size_t record, uint64_t sample,
             struct dedup *dedup, struct zfs_report *out, struct err *err) must_check;

#endif
