/*
 * The overlay that is mounted at a container's root, and its lower layers. A path is looked up in
 * each of them that has its directory.
 */
#ifndef SHIM_ROOTFS_H
#define SHIM_ROOTFS_H

#include "shim/mount/layers.h"
#include "shim/mount/mount_table.h"
#include "shim/oci/spec.h"

struct rootfs_facts {
    const struct mount_entry *mount; /* the overlay; NULL: none is mounted there (the low-level
                                        runtime mounts it, or the engine's storage is of another
                                        kind), or it is not known */
    struct layers layers; /* of the overlay; `layers.count` is the depth, 0 without one */
    bool stacked;         /* below the overlay, something else is mounted at that place */
};

/*
 * Looks at root.path, which may be relative to the directory `bundle`. A root that cannot be opened
 * has no overlay. What it finds is in the arena. Fails if the mount table cannot be read, or
 * without memory.
 */
int rootfs_gather(const struct spec *spec, int bundle, struct arena *arena,
                  struct rootfs_facts *out, struct err *err) must_check;

#endif
