/*
 * How deep a container's root is: the lower layers of the overlay that is mounted there. A path is
 * looked up in each of them that has its directory.
 */
#ifndef SHIM_ROOTFS_H
#define SHIM_ROOTFS_H

#include "shim/spec.h"

/*
 * The layers that an overlay's options (mount_table.h) name: "lowerdir=a:b", in which "\:" is part
 * of a name, or a "lowerdir+=" for each (Linux 6.8). Layers of data alone, behind "::", are in no
 * directory and not counted. Pure.
 */
size_t rootfs_count_layers(const char *super);

/*
 * For root.path, which may be relative to `bundle`. 0 where no overlay is mounted there: the
 * runtime behind us mounts it itself, or the engine's storage is of another kind.
 */
int rootfs_gather(const struct spec *spec, int bundle, struct arena *arena, size_t *depth,
                  struct err *err) must_check;

#endif
