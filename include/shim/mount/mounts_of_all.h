/* Visits the mount tables of all processes; each mount namespace once, where its name is shown. */
#ifndef SHIM_MOUNTS_OF_ALL_H
#define SHIM_MOUNTS_OF_ALL_H

#include "shim/mount/mount_table.h"

/*
 * Calls `visit` with each table, which is valid during the call. A process that ends meanwhile is
 * passed over; root gets an error for any other table that cannot be read, as its mounts would
 * count as absent. Without root only some processes are seen.
 */
int mounts_of_all(void (*visit)(void *context, const struct mount_table *table), void *context,
                  struct err *err) must_check;

#endif
