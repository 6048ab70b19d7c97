/* Visits the mount tables of all processes, each mount namespace once. */
#ifndef SHIM_MOUNTS_OF_ALL_H
#define SHIM_MOUNTS_OF_ALL_H

#include "shim/mount/mount_table.h"

/*
 * Calls `visit` with each table, which is valid during the call. A process that ends meanwhile is
 * passed over. Without root only some processes are seen. ERR_SYSTEM if /proc cannot be opened.
 */
int mounts_of_all(void (*visit)(void *context, const struct mount_table *table), void *context,
                  struct err *err) must_check;

#endif
