/* Staged copies of volumes that are of no use any more, for flatbed stage's caches. */
#ifndef SHIM_STALE_STAGED_H
#define SHIM_STALE_STAGED_H

#include "shim/admin/stale/stale.h"

/*
 * Adds the copies in the caches of a policy (NULL: the host's policy) whose source is gone, that a
 * newer one replaced, or that were interrupted; none that is mounted, and none of a source that
 * does not answer. Removes them if `limits` says so, unless a process holds them. Their change is
 * their last use. A policy that does not load, or a cache that cannot be read, is a problem of the
 * list.
 */
int stale_staged(const char *policy, const struct stale_limits *limits, struct stale_list *out,
                 struct err *err) must_check;

#endif
