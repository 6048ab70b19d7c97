/*
 * Where a mount's destination is in the container's root: an image may have symbolic links on the
 * way, which the runtime behind us follows, as if that root were "/" (openat2(2), RESOLVE_IN_ROOT).
 * What earlier mounts of the same container put in the way is not looked at.
 */
#ifndef SHIM_TARGETS_H
#define SHIM_TARGETS_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * True if links lead elsewhere than the destination says: then the clean absolute path is appended
 * to `out` (which may have failed). What does not exist yet stays as it is written, and so does
 * what leads in circles: that fails anyway.
 */
bool targets_lead(int root, const char *destination, struct buf *out);

#endif
