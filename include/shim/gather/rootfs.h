/*
 * How deep a container's root is: the lower layers of the overlay that is mounted there. A path is
 * looked up in each of them that has its directory.
 */
#ifndef SHIM_ROOTFS_H
#define SHIM_ROOTFS_H

#include "shim/mount/mount_table.h"
#include "shim/oci/spec.h"

/*
 * The layers that an overlay's options (mount_table.h) name: "lowerdir=a:b", in which "\:" is part
 * of a name, or a "lowerdir+=" for each (Linux 6.8). Layers of data alone, behind "::", are in no
 * directory and not counted. Pure.
 */
size_t rootfs_count_layers(const char *super);

struct rootfs_facts {
    size_t depth; /* 0: no overlay is mounted there (the runtime behind us mounts it itself, or the
                     engine's storage is of another kind), or it is not known */
    const struct mount_entry *mount; /* the overlay; NULL where there is none */
    bool stacked;                    /* something else is mounted at that place, below it */
};

/* For root.path, which may be relative to `bundle`. What it finds is in the arena. */
int rootfs_gather(const struct spec *spec, int bundle, struct arena *arena,
                  struct rootfs_facts *out, struct err *err) must_check;

#endif
