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
#include "shim/oci/call.h"

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

/* The wish of a launch to have a private side alone. */
struct pool_claim {
    const struct source *source; /* the private side, prepared */
    const char *path;            /* by which the mount will name it */
    bool pinned;                 /* that is a path in PIN_DIRECTORY */
    const struct call *call;     /* of the launch: --root and id of the container */
};

/*
 * Claims the private side for this launch, in /run/flatbed/pool, under a lock: of launches at the
 * same time one gets it. Whether it is free is asked of the claims and of all mount tables; nothing
 * is mounted, not even for a moment, as that would disturb the launch that has it. Returns 0, or 1
 * if another container has it.
 */
int pool_take(const struct pool_claim *claim, struct err *err) must_check;

#endif
