/*
 * statx(2) and mount_setattr(2) for one purpose each. They return 0, or -1 and set errno.
 */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <stdbool.h>
#include <time.h>

/* The number of the mount that fd is on, as in /proc/self/mountinfo. */
int kernel_mount_id(int fd, int *out);

/*
 * Adds those of MS_RDONLY, MS_NOSUID, MS_NODEV and MS_NOEXEC that are in `flags` to the mount at
 * `path` and to all mounts below it. The last component of `path` must not be a link.
 */
int kernel_restrict_mounts(const char *path, unsigned long flags);

/* True if the kernel has mount_setattr(2). */
bool kernel_restricts_mounts(void);

/* The time when the file at `path`, or the link there, was made; 0 if its file system keeps none.
 */
int kernel_birth(const char *path, struct timespec *out);

#endif
