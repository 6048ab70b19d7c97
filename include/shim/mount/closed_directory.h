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

/*
 * Opens the directory `name` in `dirfd`, whose path is `path`, and locks it; a missing one is made.
 * Returns a descriptor that the caller closes, or -1: ERR_LIMIT with the text `busy` if another
 * process has it locked, or has renamed it meanwhile.
 */
int closed_directory_claim(int dirfd, const char *path, const char *name, const char *busy,
                           struct err *err) must_check;

#endif
