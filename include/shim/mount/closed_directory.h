/* Directories that only root can look into: caches whose content becomes part of containers. */
#ifndef SHIM_CLOSED_DIRECTORY_H
#define SHIM_CLOSED_DIRECTORY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

/*
 * Opens the directory at a clean absolute path. Returns a descriptor that the caller closes, and
 * sets *real to its path without symbolic links, which the caller frees. ERR_POLICY: users other
 * than root could change it, or look into it. A missing one is made if `make` is true, else it is
 * ERR_SYSTEM with ENOENT.
 */
int closed_directory_open(const char *path, bool make, char **real, struct err *err) must_check;

#endif
