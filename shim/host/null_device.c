#include "shim/host/null_device.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MEMORY_MAJOR = 1, NULL_MINOR = 3 }; /* Documentation/admin-guide/devices.txt */

/* True for a null device that the next program gets. */
static bool is_null(int fd)
{
    struct stat st;

    return !(fcntl(fd, F_GETFD) & FD_CLOEXEC) && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
           st.st_rdev == makedev(MEMORY_MAJOR, NULL_MINOR);
}

/* Returns the root of a new tmpfs that is mounted nowhere and has the file "null", or -1. */
static int make_null(struct err *err)
{
    _cleanup_fd_ int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);

    if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return err_sys(err, "a tmpfs for a null device");
    _cleanup_fd_ int root = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
    if (root < 0 || mknodat(root, "null", S_IFCHR, makedev(MEMORY_MAJOR, NULL_MINOR)) < 0 ||
        fchmodat(root, "null", 0666, 0) < 0) /* whatever the umask */
        return err_sys(err, "a null device");
    return steal_fd(&root);
}

static int replace(int fd, int root, struct err *err)
{
    int flags = fcntl(fd, F_GETFL);
    _cleanup_fd_ int node = flags < 0 ? -1 : openat(root, "null", flags | O_CLOEXEC);

    return node < 0 || dup2(node, fd) < 0 ? err_sys(err, "a null device for stream %d", fd) : 0;
}

int null_device_replace(struct err *err)
{
    _cleanup_fd_ int root = -1;

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (!is_null(fd))
            continue;
        if (root < 0 && (root = make_null(err)) < 0)
            return -1;
        if (replace(fd, root, err) < 0)
            return -1;
    }
    return 0;
}
