/* Finds what is mounted at and below the source of a bind mount. */
#ifndef SHIM_BINDS_MOUNTS_H
#define SHIM_BINDS_MOUNTS_H

#include "shim/gather/binds.h"
#include "shim/gather/engine/engine.h"
#include "shim/mount/mount_table.h"

/* Returns true for the programs that engines mount for --init. */
bool binds_is_init(const char *path);

/*
 * Returns the mount that could show anything of the host, if what is named `name` and lies in the
 * mount `m` is of its file system: an overlay, or a file system, or other owners of files, that
 * the options of a volume ask for. Else NULL.
 */
const struct mount_entry *binds_find_opaque(const struct engine_directories *engine,
                                            const struct mount_table *table,
                                            const struct mount_entry *m, const char *name);

/* Fills in what is mounted beneath `s->found`, in the arena. Fails only without memory. */
int binds_find_below(const struct engine_directories *engine, const struct mount_table *table,
                     struct arena *arena, struct bind_source *s, struct err *err) must_check;

#endif
