#include "shim/audit/audit_directory.h"

#include "base/path.h"
#include "shim/host/trust.h"
#include "shim/mount/source.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

int audit_directory_open(const char *path, bool trusted, const char **name, struct err *err)
{
    _cleanup_source_ struct source directory = SOURCE_INIT;
    _cleanup_free_ char *dir = path_parent(path, name);
    struct stat st;

    if (!dir)
        return err_nomem(err);
    if (source_find(dir, &directory, err) < 0)
        return -1;
    if (trusted) { /* also what leads to a missing one, which is made there */
        if (fstat(directory.fd, &st) < 0)
            return err_sys(err, "%s", dir);
        if (directory.exposed || !trust_closed(&st))
            return err_set(
                err, ERR_POLICY,
                "%s: must lie in directories that are owned by root and not writable by others",
                path);
    }
    if (directory.missing || !directory.directory) {
        errno = directory.missing ? ENOENT : ENOTDIR;
        return err_sys(err, "%s", dir);
    }
    int fd = openat(directory.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? err_sys(err, "%s", dir) : fd;
}
