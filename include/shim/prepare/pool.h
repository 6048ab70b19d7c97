/*
 * The host's side of a volume with a pool: the pool, and the two directories of the private side.
 *
 * The kernel looks "upper" and "work" up by name when it mounts, so only root may write to the
 * directory that holds them: a user who could replace them by links could have root write
 * elsewhere.
 */
#ifndef SHIM_POOL_H
#define SHIM_POOL_H

#include "shim/mount/source.h"

/*
 * Checks the pool, and the private side `source`, which may be missing, as pool_prepare does.
 * ERR_POLICY says what is not accepted; ERR_UNSUPPORTED: a rootless runtime.
 */
int pool_check(const char *pool, const struct source *source, struct err *err) must_check;

/*
 * Checks both, and makes "upper" and "work" in `source`, which is open, if they are missing:
 * "upper" for the owner in `make`, "work" for root.
 */
int pool_prepare(const char *pool, const struct source *source, const struct source_make *make,
                 struct err *err) must_check;

/*
 * Returns true if an overlay with that private side is mounted already, in any namespace: the
 * kernel would not mount it again (overlay.h). Returns false also if this cannot be found out.
 */
bool pool_busy(const char *pool, const struct source *source);

#endif
