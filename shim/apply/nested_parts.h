/* The parts of nested.h: mounts (nested.c), the working directory (nested_cwd.c), and the paths
 * that the runtime covers (nested_covers.c). */
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

/* Returns true if any mount requires access. */
bool nested_requires_access(const struct nested *n);

/* Returns ERR_POLICY for a working directory that is refused. */
int nested_check_cwd(struct nested *n, int root) must_check;

/* Returns true if the path is below a mount of users', however many others are between. */
bool nested_is_below_users(const struct nested *n, const char *path);

/* Returns ERR_POLICY for a path that is refused, of those that the runtime would cover. */
int nested_check_covers(struct nested *n, int root) must_check;

#endif
