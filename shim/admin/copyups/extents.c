#include "shim/admin/copyups/extents.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#ifndef BCACHEFS_SUPER_MAGIC
#define BCACHEFS_SUPER_MAGIC 0xca451a4e
#endif

enum { BATCH = 128, MOST_BATCHES = 512 };

bool extents_may_share(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 &&
           (fs.f_type == XFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC ||
            fs.f_type == BCACHEFS_SUPER_MAGIC);
}

/*
 * Opens a regular file for reading. Only the file that was found to be one is opened: a container
 * may put a device in its place meanwhile, and opening that might act on it.
 */
static int open_regular(int dirfd, const char *name)
{
    char path[32];
    struct stat st;
    _cleanup_fd_ int found = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (found < 0 || fstat(found, &st) < 0 || !S_ISREG(st.st_mode))
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

uint64_t extents_shared(int dirfd, const char *name)
{
    _cleanup_fd_ int fd = open_regular(dirfd, name);
    _cleanup_free_ struct fiemap *map =
        calloc(1, sizeof(*map) + BATCH * sizeof(struct fiemap_extent));
    uint64_t shared = 0;

    for (int i = 0; fd >= 0 && map && i < MOST_BATCHES; i++) {
        map->fm_length = FIEMAP_MAX_OFFSET - map->fm_start;
        map->fm_flags = 0;
        map->fm_extent_count = BATCH;
        if (ioctl(fd, FS_IOC_FIEMAP, map) < 0 || map->fm_mapped_extents == 0)
            break;
        for (uint32_t n = 0; n < map->fm_mapped_extents; n++)
            if (map->fm_extents[n].fe_flags & FIEMAP_EXTENT_SHARED)
                shared += map->fm_extents[n].fe_length;
        const struct fiemap_extent *last = &map->fm_extents[map->fm_mapped_extents - 1];
        if (last->fe_flags & FIEMAP_EXTENT_LAST)
            break;
        map->fm_start = last->fe_logical + last->fe_length;
    }
    return shared;
}
