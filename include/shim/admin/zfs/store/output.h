/* The output of flatbed zfs, for people and as JSON. */
#ifndef SHIM_ZFS_OUTPUT_H
#define SHIM_ZFS_OUTPUT_H

#include "shim/admin/zfs/advice.h"
#include "shim/admin/zfs/store/difference.h"
#include "shim/admin/zfs/store/snapshots.h"

/* The difference between two moments of a store. */
struct zfs_report {
    const char *store;     /* NULL: two directories are compared */
    const char *from, *to; /* snapshots or directories; `to` NULL: the store as it is */
    struct zfs_difference difference;
    bool knows_written;
    uint64_t written; /* bytes to the dataset since `from` */
};

/* These append text; `terminal`: its columns, 0 for none. */
void zfs_put_advice(const struct zfs_advices *advices, size_t terminal, struct buf *out);
void zfs_put_snapshots(const struct zfs_stores *stores, const struct zfs_snapshots *lists,
                       size_t terminal, struct buf *out);
void zfs_put_reports(const struct zfs_report *reports, size_t count, size_t terminal,
                     struct buf *out);

/* These append an object and a newline. */
int zfs_json_advice(const struct zfs_advices *advices, struct buf *out, struct err *err) must_check;
int zfs_json_snapshots(const struct zfs_stores *stores, const struct zfs_snapshots *lists,
                       struct buf *out, struct err *err) must_check;
int zfs_json_reports(const struct zfs_report *reports, size_t count, struct buf *out,
                     struct err *err) must_check;

#endif
