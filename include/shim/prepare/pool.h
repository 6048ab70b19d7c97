/*
 * The host's side of a volume with a pool: the pool, and the two folders of the private side.
 *
 * The kernel looks "upper" and "work" up by their names when it mounts, so the folder that holds
 * them must be root's alone: whoever could replace them by links could have root write elsewhere.
 */
#ifndef SHIM_POOL_H
#define SHIM_POOL_H

#include "shim/mount/source.h"

/* What pool_prepare will not accept of the pool, or of `source`, which may be missing. */
int pool_check(const char *pool, const struct source *source, struct err *err) must_check;

/* `source` is open and there; `make` says whose "upper" is to be, if it is missing. */
int pool_prepare(const char *pool, const struct source *source, const struct source_make *make,
                 struct err *err) must_check;

/*
 * True if an overlay with that private side is mounted already, in whatever namespace: the kernel
 * would not mount it again (overlay.h). False also where this cannot be told.
 */
bool pool_busy(const char *pool, const struct source *source);

#endif
