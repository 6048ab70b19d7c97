/* The paths of a host that may lie on ZFS, and their uses. */
#ifndef SHIM_ZFS_PLACES_H
#define SHIM_ZFS_PLACES_H

#include "shim/admin/zfs/rules.h"
#include "shim/policy/policy.h"

struct zfs_place {
    const char *path; /* absolute */
    enum zfs_use use;
};

/* In the arena of whoever adds to it. */
struct zfs_places {
    struct zfs_place *list;
    size_t count;
};

/* These add to the list. They fail without memory only, but for the word. */

/* Adds a path, unless it is there with that use. */
int zfs_places_add(struct zfs_places *places, const char *path, enum zfs_use use,
                   struct arena *arena, struct err *err) must_check;

/* Adds the stores of images of Docker, containerd and root's podman. */
int zfs_places_stores(struct zfs_places *places, struct arena *arena, struct err *err) must_check;

/* Adds the sources of a policy's volumes, up to their first variable. */
int zfs_places_volumes(struct zfs_places *places, const struct policy *policy, struct arena *arena,
                       struct err *err) must_check;

/* Adds "/path" or "models=/path". ERR_USAGE for another word. */
int zfs_places_word(struct zfs_places *places, const char *word, struct arena *arena,
                    struct err *err) must_check;

#endif
