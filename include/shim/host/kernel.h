/*
 * System calls for which not every libc has a function: glibc's of Debian 12 has all of these,
 * musl's of Debian 12 and 13 some, and Linux's headers do not get along with either's sys/mount.h
 * and sys/stat.h. As system calls do, they return -1 and set errno.
 */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <stdbool.h>
#include <time.h>

/* Closes `first` and all descriptors above it: close_range(2), or by /proc where that is refused.
 */
int kernel_close_from(unsigned first);

/* statx(2): the number that /proc/self/mountinfo has for the mount that fd is on. */
int kernel_mount_id(int fd, int *out);

/*
 * mount_setattr(2), recursive, on a path whose last component may not be a link: adds those of
 * MS_RDONLY, MS_NOSUID, MS_NODEV and MS_NOEXEC that are in `flags`.
 */
int kernel_restrict_mounts(const char *path, unsigned long flags);

/* Does the kernel have mount_setattr(2)? */
bool kernel_restricts_mounts(void);

/* statx(2): when a file (not what a link leads to) was made; 0 where its file system does not say.
 */
int kernel_birth(const char *path, struct timespec *out);

/* open_tree(2): a descriptor (CLOEXEC) of a copy of the mount at that path, which nobody else sees.
 */
int kernel_clone_mount(const char *path);

/* fsopen(2), CLOEXEC; fsconfig(2) with a string; fsconfig(2) FSCONFIG_CMD_CREATE. */
int kernel_fs_open(const char *type);
int kernel_fs_set(int context, const char *key, const char *value);
int kernel_fs_create(int context);

#endif
