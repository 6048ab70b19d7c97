/*
 * Finds where the destination of a mount leads in a container's root: an image may have symbolic
 * links on the way, which the low-level runtime follows as if that root were "/" (openat2(2),
 * RESOLVE_IN_ROOT). Earlier mounts of the same container are not looked at.
 */
#ifndef SHIM_TARGETS_H
#define SHIM_TARGETS_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * Returns true if links lead elsewhere than the destination says, and appends the clean absolute
 * path to `out` (which may have failed). A part that does not exist stays as it is written, as does
 * a circle of links, which fails anyway. `root` is an open directory.
 */
bool targets_lead(int root, const char *destination, struct buf *out);

#endif
