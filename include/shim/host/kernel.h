/*
 * statx(2), open_tree(2) and mount_setattr(2) for one purpose each. They return 0, or -1 and set
 * errno.
 */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

/* statx(2): sets *out to the number, in /proc/self/mountinfo, of the mount that fd is on. */
int kernel_mount_id(int fd, int *out);

/*
 * open_tree(2): looks at an entry of a directory beneath what is mounted on it. A symbolic link is
 * not followed. Needs CAP_SYS_ADMIN.
 */
int kernel_stat_mount_point(int dirfd, const char *name, struct stat *out);

/*
 * mount_setattr(2): adds those of MS_RDONLY, MS_NOSUID, MS_NODEV and MS_NOEXEC that are in `flags`
 * to the mount at `path` and to all mounts below it. The last component of `path` is not followed.
 */
int kernel_restrict_mounts(const char *path, unsigned long flags);

/* Returns true if the kernel has mount_setattr(2). */
bool kernel_restricts_mounts(void);

/*
 * statx(2): sets *out to the time when a file (a symbolic link is not followed) was made; 0 if its
 * file system keeps none.
 */
int kernel_birth(const char *path, struct timespec *out);

#endif
