#include "base/files/dir_sync.h"

#include <fcntl.h>

int dir_sync(int dirfd, const char *path, struct err *err)
{
    _cleanup_fd_ int dir = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return errno == EACCES ? 0 : err_sys(err, "cannot open the directory");
    return fsync(dir) == 0 || errno == EINVAL || errno == ENOTSUP
               ? 0
               : err_sys(err, "cannot write the directory");
}
