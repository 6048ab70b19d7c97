/* What a file that replaces another takes over from it: owner, mode and SELinux label. */
#ifndef SHIM_ATTRIBUTES_H
#define SHIM_ATTRIBUTES_H

#include "base/cleanup.h"
#include "base/err.h"

#include <sys/stat.h>

/* From the open file `from`, which `like` was read of, to the open file `to`. */
int attributes_copy(int from, const struct stat *like, int to, struct err *err) must_check;

#endif
