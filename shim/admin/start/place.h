/* The directory of a measurement, and the mounts in it. */
#ifndef SHIM_START_PLACE_H
#define SHIM_START_PLACE_H

#include "shim/admin/start/start.h"

/* In the working directory, which is a file system in memory. */
#define START_ROOTFS "rootfs"
#define START_STATE  "state"

/*
 * Makes the mounts of this namespace private, mounts /proc anew for this PID namespace, and a file
 * system in memory at `dir`, which becomes the working directory.
 */
int place_enter(const char *dir, struct err *err) must_check;

/* Makes short names for layers: "KEY0", "KEY1" … */
int place_name_layers(const char *key, const char *const *layers, size_t count,
                      struct err *err) must_check;

/* Mounts an overlay of the layers that were named so, with a new upper directory. */
int place_mount(const char *key, size_t count, struct err *err) must_check;

/* Unmounts it, and empties the upper directory. */
int place_unmount(struct err *err) must_check;

#endif
