#include "shim/host/kernel.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>

_Static_assert(MS_RDONLY == MOUNT_ATTR_RDONLY && MS_NOSUID == MOUNT_ATTR_NOSUID &&
                   MS_NODEV == MOUNT_ATTR_NODEV && MS_NOEXEC == MOUNT_ATTR_NOEXEC,
               "these flags of mount(2) are attributes of mount_setattr(2)");

int kernel_mount_id(int fd, int *out)
{
    struct statx st;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0)
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

    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) < 0)
        return -1;
    *out = (struct timespec){0};
    if (st.stx_mask & STATX_BTIME)
        *out = (struct timespec){st.stx_btime.tv_sec, (long)st.stx_btime.tv_nsec};
    return 0;
}

int kernel_stat_mount_point(int dirfd, const char *name, struct stat *out)
{
    const unsigned flags = AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
    _cleanup_fd_ int bare = open_tree(dirfd, "", flags); /* without the mounts below */

    return bare < 0 ? -1 : fstatat(bare, name, out, AT_SYMLINK_NOFOLLOW);
}

int kernel_restrict_mounts(const char *path, unsigned long flags)
{
    const unsigned at = AT_RECURSIVE | AT_SYMLINK_NOFOLLOW;
    struct mount_attr attr = {
        .attr_set = flags & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC),
    };

    return mount_setattr(AT_FDCWD, path, at, &attr, sizeof(attr));
}

/* Asks with a size of 0, which the call refuses with EINVAL and a missing call with ENOSYS. */
bool kernel_restricts_mounts(void)
{
    return mount_setattr(-1, "", 0, NULL, 0) < 0 && errno == EINVAL;
}
