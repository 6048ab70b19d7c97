/* Opens the files of a record. */
#ifndef SHIM_WARM_OPEN_H
#define SHIM_WARM_OPEN_H

#include "base/cleanup.h"

#include <sys/stat.h>

/*
 * Opens a regular file beneath a directory for reading: through no symbolic link and no other
 * mount, and nothing else than a regular file, not even for a moment. Returns a descriptor and sets
 * *st; or -1.
 */
int warm_open(int dir, const char *path, struct stat *st) must_check;

#endif
