/* The directory of an audit or metrics file. */
#ifndef SHIM_AUDIT_DIRECTORY_H
#define SHIM_AUDIT_DIRECTORY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

/*
 * Opens the directory that holds a clean absolute path, following only symbolic links that root
 * controls, and sets *name to the last component. With `trusted`, only root may be able to replace
 * the directory or its entries: ERR_POLICY. A missing directory is ENOENT. Returns a descriptor
 * that the caller closes.
 */
int audit_directory_open(const char *path, bool trusted, const char **name,
                         struct err *err) must_check;

#endif
