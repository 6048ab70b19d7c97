/* The trees of restack whose layers are gone, for flatbed stale. */
#ifndef SHIM_STALE_TREES_H
#define SHIM_STALE_TREES_H

#include "shim/admin/stale/stale.h"

/*
 * Adds the trees in the cache at `path` (NULL: the policy's) that no container can use any more,
 * and removes them if `limits` says so, under the locks of the cache. A cache that is missing has
 * none; one that cannot be read is a problem of the list. Does nothing for users other than root.
 */
int stale_trees(const char *path, const struct stale_limits *limits, struct stale_list *out,
                struct err *err) must_check;

#endif
