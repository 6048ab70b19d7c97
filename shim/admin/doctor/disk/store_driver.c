#include "shim/admin/doctor/disk/store_driver.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <linux/openat2.h>

static const char vfs[] = "vfs", fuse[] = "fuse-overlayfs";

static bool has(int dirfd, const char *path)
{
    _cleanup_fd_ int fd = fd_open_within(dirfd, path, O_PATH | O_NOFOLLOW, RESOLVE_BENEATH);

    return fd >= 0;
}

/* Podman notes there whether a program mounts its overlays: "true" or "false". */
static bool has_mount_program(int dirfd)
{
    _cleanup_fd_ int fd = fd_open_within(dirfd, "overlay/.has-mount-program",
                                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK, RESOLVE_BENEATH);
    struct stat st;
    char first;

    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && pread(fd, &first, 1, 0) == 1 &&
           first == 't';
}

const char *store_driver_of(int dirfd)
{
    if (has(dirfd, "image/vfs/repositories.json") || has(dirfd, "vfs-images/images.json"))
        return vfs;
    return has(dirfd, "image/fuse-overlayfs/repositories.json") || has_mount_program(dirfd) ? fuse
                                                                                            : NULL;
}
