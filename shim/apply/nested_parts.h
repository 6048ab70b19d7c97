/* The parts of nested.h: mounts (nested.c) and the working directory (nested_cwd.c). */
#ifndef SHIM_NESTED_PARTS_H
#define SHIM_NESTED_PARTS_H

#include "shim/apply/nested.h"
#include "shim/gather/binds.h"
#include "shim/gather/targets.h"
#include "shim/mount/mount_table.h"

struct nested {
    const struct spec *spec;
    const struct nested_options *options;
    struct targets targets;
    struct mount_table table;
    struct bind_name *sources; /* of the bind mounts that were looked at */
    struct nested_mounts *out;
    struct arena *arena;
    struct err why; /* of the mount that is looked at */
    struct err *err;
};

/* Returns true if the user must be able to reach what a mount shows. */
bool nested_is_required(const struct nested *n, size_t i);

/* Finds why the working directory is refused, and whether any mount requires access. */
int nested_find_cwd(struct nested *n, int root) must_check;

#endif
