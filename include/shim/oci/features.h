/*
 * What the runtime behind us can do, by its `features` (runtime-spec, features.md; runc 1.1 and
 * crun 1.8.7 have the command) and by the kernel.
 *
 * Asking costs a start of that runtime, so the answer is kept in /run/flatbed/features under
 * device, inode and time of its file. The runtime behind a wrapper may change without the wrapper's
 * file: that is noticed at the next boot, or when the folder is removed.
 */
#ifndef SHIM_FEATURES_H
#define SHIM_FEATURES_H

#include "shim/oci/lowlevel.h"

#include <stdbool.h>

struct features {
    bool rro;   /* mounts can be made read-only with all that is mounted below them */
    bool idmap; /* bind mounts can be idmapped */
};

/* Reads the text of `features`. What is not such a text means that nothing can be done. Pure. */
void features_parse(const char *text, struct features *out);

/*
 * What is known, or else asked. Without a place to keep the answer (a rootless runtime) it is asked
 * for only if `needed`. Whoever cannot be asked can do nothing.
 */
void features_find(struct lowlevel *low, bool needed, struct features *out);

#endif
