/*
 * System calls that are made directly: glibc has functions for them, but the kernel's headers with
 * their constants define names that sys/mount.h and sys/stat.h define as well. All return -1 and
 * set errno on failure.
 */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <stdbool.h>
#include <time.h>

/*
 * close_range(2): closes `first` and all descriptors above it; by way of /proc if the call is
 * refused.
 */
int kernel_close_from(unsigned first);

/* statx(2): sets *out to the number, in /proc/self/mountinfo, of the mount that fd is on. */
int kernel_mount_id(int fd, int *out);

/*
 * mount_setattr(2), recursive, on a path whose last component is not followed: adds those of
 * MS_RDONLY, MS_NOSUID, MS_NODEV and MS_NOEXEC that are in `flags`.
 */
int kernel_restrict_mounts(const char *path, unsigned long flags);

/* Returns true if the kernel has mount_setattr(2). */
bool kernel_restricts_mounts(void);

/*
 * statx(2): sets *out to the time when a file (a symbolic link is not followed) was made; 0 if its
 * file system does not say.
 */
int kernel_birth(const char *path, struct timespec *out);

/* open_tree(2): returns a descriptor (CLOEXEC) of a detached copy of the mount at that path. */
int kernel_clone_mount(const char *path);

/* fsopen(2): returns a context for a new mount (CLOEXEC). */
int kernel_fs_open(const char *type);
/* fsconfig(2) with a string. */
int kernel_fs_set(int context, const char *key, const char *value);
/* fsconfig(2) with FSCONFIG_CMD_CREATE. */
int kernel_fs_create(int context);

#endif
