/*
 * Shows the change of a configuration file as a unified diff, by diff(1) of diffutils.
 */
#ifndef SHIM_CONFIG_DIFF_H
#define SHIM_CONFIG_DIFF_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Prints the difference of two texts to standard output in the form that patch(1) reads, both under
 * the name `path`. A NULL text stands for a file that does not exist. Prints nothing for equal
 * texts. ERR_SYSTEM if diff cannot be started or fails; it has then written why to standard error.
 */
int config_diff_print(const char *path, const struct buf *before, const struct buf *after,
                      struct err *err) must_check;

#endif
