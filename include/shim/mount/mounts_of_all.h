/* The tables of mounts of all processes, each mount namespace once. */
#ifndef SHIM_MOUNTS_OF_ALL_H
#define SHIM_MOUNTS_OF_ALL_H

#include "shim/mount/mount_table.h"

/* A process that ends meanwhile is passed over. Needs root, or only some are seen. */
int mounts_of_all(void (*look)(void *context, const struct mount_table *table), void *context,
                  struct err *err) must_check;

#endif
