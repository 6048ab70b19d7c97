/* The folder of a file that is written down to. */
#ifndef SHIM_AUDIT_FOLDER_H
#define SHIM_AUDIT_FOLDER_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

/*
 * A descriptor of the folder that holds a clean absolute path, walked without following anybody's
 * symbolic links but root's, and in *name the last component. With `trusted`, nobody but root may
 * be able to replace it, or what is in it. A missing one is ENOENT.
 */
int audit_folder_open(const char *path, bool trusted, const char **name,
                      struct err *err) must_check;

#endif
