/*
 * The features of the low-level runtime, by its command `features` (runtime-spec, features.md; runc
 * 1.1 and crun 1.8.7 have the command), as far as the kernel has them, too.
 *
 * Asking costs a start of that runtime, so the answer is kept in /run/flatbed/features under
 * device, inode and time of its file. If the file is a wrapper, the runtime behind it may change
 * without being noticed until the next boot, or until that directory is removed. So the kept answer
 * serves only what can be done without; what is needed is asked for each time.
 */
#ifndef SHIM_FEATURES_H
#define SHIM_FEATURES_H

#include "shim/oci/lowlevel.h"

#include <stdbool.h>

struct features {
    bool rro;    /* mounts can be made read-only with all that is mounted below them */
    bool idmap;  /* bind mounts can be idmapped */
    bool ridmap; /* with all that is mounted below them */
};

/* Reads the output of `features`. Any other text means that the runtime has none of them. Pure. */
void features_parse(const char *text, struct features *out);

/*
 * Finds the features: by asking if they are `needed`, else those that were kept. If no answer is
 * kept the runtime is asked as well, unless the answer cannot be kept (a rootless runtime). A
 * runtime that cannot be asked has none.
 */
void features_find(struct lowlevel *low, bool needed, struct features *out);

#endif
