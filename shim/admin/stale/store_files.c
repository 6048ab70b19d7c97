#include "base/fdio.h"
#include "shim/admin/stale/state.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>

int store_open(int at, const char *path, int flags, bool one_device)
{
    unsigned plain = flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK;

    return fd_open_within(at, path, (unsigned)flags | plain,
                          RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                              (one_device ? RESOLVE_NO_XDEV : 0));
}

int store_read(int at, const char *path, size_t limit, struct buf *out, struct err *err)
{
    _cleanup_fd_ int fd = store_open(at, path, O_RDONLY, false);

    if (fd < 0)
        return err_sys(err, "%s", path);
    return fd_read_regular(fd, limit, out, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

int store_each(int at, const char *path, bool optional, name_visit *visit, void *context,
               struct err *err)
{
    int fd = store_open(at, path, O_RDONLY | O_DIRECTORY, false);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;
    int rc = 0;

    if (fd < 0 && errno == ENOENT && optional)
        return 0;
    if (!dir) {
        err_sys(err, "%s", path);
        cleanup_fd(&fd);
        return -1;
    }
    while (rc == 0) {
        errno = 0;
        e = readdir(dir);
        if (!e && errno)
            rc = err_sys(err, "%s", path);
        if (!e)
            break;
        if (e->d_name[0] != '.')
            rc = visit(context, dirfd(dir), e->d_name, err);
    }
    closedir(dir);
    return rc;
}
