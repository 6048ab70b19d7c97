#include "shim/host/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
/* Without sys/mount.h and sys/stat.h, which define the same names as these two headers. */
#include <linux/mount.h>
#include <linux/stat.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(MS_RDONLY == MOUNT_ATTR_RDONLY && MS_NOSUID == MOUNT_ATTR_NOSUID &&
                   MS_NODEV == MOUNT_ATTR_NODEV && MS_NOEXEC == MOUNT_ATTR_NOEXEC,
               "these flags of mount(2) are attributes of mount_setattr(2)");

/* Closes one after the other, if an old kernel or a sandbox refuses close_range(2). */
static int close_each_from(unsigned first)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;

    if (!dir)
        return -1;
    while ((entry = readdir(dir)) != NULL) {
        unsigned long fd = strtoul(entry->d_name, NULL, 10);
        if (entry->d_name[0] != '.' && fd >= first && fd != (unsigned long)dirfd(dir))
            close((int)fd);
    }
    return closedir(dir);
}

int kernel_close_from(unsigned first)
{
    return syscall(SYS_close_range, first, UINT_MAX, 0) == 0 ? 0 : close_each_from(first);
}

int kernel_mount_id(int fd, int *out)
{
    struct statx st;

    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0)
        return -1;
    if (!(st.stx_mask & STATX_MNT_ID)) {
        errno = ENOSYS;
        return -1;
    }
    *out = (int)st.stx_mnt_id;
    return 0;
}

int kernel_birth(const char *path, struct timespec *out)
{
    struct statx st;

    if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) < 0)
        return -1;
    *out = (struct timespec){0};
    if (st.stx_mask & STATX_BTIME)
        *out = (struct timespec){st.stx_btime.tv_sec, (long)st.stx_btime.tv_nsec};
    return 0;
}

int kernel_clone_mount(const char *path)
{
    return (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

int kernel_restrict_mounts(const char *path, unsigned long flags)
{
    const unsigned at = AT_RECURSIVE | AT_SYMLINK_NOFOLLOW;
    struct mount_attr attr = {
        .attr_set = flags & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC),
    };

    return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, at, &attr, sizeof(attr));
}

/* Asks with a size of 0, which the call refuses with EINVAL and a missing call with ENOSYS. */
bool kernel_restricts_mounts(void)
{
    return syscall(SYS_mount_setattr, -1, "", 0, NULL, 0) < 0 && errno == EINVAL;
}

int kernel_fs_open(const char *type)
{
    return (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
}

int kernel_fs_set(int context, const char *key, const char *value)
{
    return (int)syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, key, value, 0);
}

int kernel_fs_create(int context)
{
    return (int)syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}
