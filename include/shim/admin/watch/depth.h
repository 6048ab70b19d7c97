/*
 * The depth of a directory: how many layers of the container's root, the upper directory counted,
 * are searched for a name in it.
 */
#ifndef SHIM_WATCH_DEPTH_H
#define SHIM_WATCH_DEPTH_H

#include "shim/admin/containers/containers.h"
#include "shim/admin/watch/seen.h"
#include "shim/admin/watch/target.h"

/*
 * Sets the layers of each entry, directories of the container. One that does not exist has those of
 * the nearest directory above it; one on another mount has none. Links lead nowhere outside of the
 * container.
 */
int depth_find(const struct container_root *root, bool users, const struct target *target,
               struct seen_entry *const entries[], size_t count, struct err *err) must_check;

#endif
