/*
 * Asks what is mounted below a source. A recursive bind takes it along, but `ro`, `nosuid` and
 * `nodev` of a bind hold for its topmost mount alone (mount(8); runc and crun know `rro` only where
 * they and the kernel are new enough). Such a source is pinned, and the options set on all of the
 * pin.
 */
#ifndef SHIM_SUBMOUNTS_H
#define SHIM_SUBMOUNTS_H

#include "shim/mount/mount_table.h"
#include "shim/mount/source.h"

/* The table of mounts, read when it is first asked: a kernel writes it slowly. */
struct submounts {
    struct arena *arena;
    bool read;
    struct mount_table table;
};

/*
 * Sets *out if something is mounted beneath an open source, in this mount namespace. `path` is the
 * clean path that it was found by, which saves a look at /proc, or NULL.
 */
int submounts_find(struct submounts *known, const struct source *source, const char *path,
                   bool *out, struct err *err) must_check;

#endif
