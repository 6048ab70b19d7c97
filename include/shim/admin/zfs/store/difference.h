/* Images and layers that two moments of a store do not share. Pure. */
#ifndef SHIM_ZFS_DIFFERENCE_H
#define SHIM_ZFS_DIFFERENCE_H

#include "shim/admin/zfs/store/images.h"

enum zfs_change { ZFS_ADDED, ZFS_REMOVED, ZFS_MOVED };

extern const char *const zfs_change_names[];

struct zfs_changed {
    enum zfs_change change;
    const struct zfs_item *item; /* of the later moment, unless it was removed */
    const char *was; /* the earlier ID of a name that means another image now, or NULL */
};

struct zfs_difference {
    struct zfs_changed *list; /* sorted as the items; in the arena */
    size_t count;
    uint64_t added, removed; /* bytes of layers */
};

/* Compares two sorted lists, which must stay. */
int zfs_compare(const struct zfs_items *before, const struct zfs_items *after, struct arena *arena,
                struct zfs_difference *out, struct err *err) must_check;

#endif
