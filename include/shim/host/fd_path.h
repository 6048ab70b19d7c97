/* The path of an open file: the link that /proc/self/fd has for its descriptor (proc_pid_fd(5)). */
#ifndef SHIM_FD_PATH_H
#define SHIM_FD_PATH_H

#include "base/cleanup.h"

#include <limits.h>

/*
 * Writes the absolute path, without symbolic links, to `out`. Returns 0, or -1 and errno:
 * ENAMETOOLONG if it does not fit, ENOENT for a file that has no absolute path in this mount
 * namespace.
 */
int fd_path(int fd, char out[PATH_MAX]) must_check;

#endif
