#include "shim/mount/closed_directory.h"

#include "base/fdio.h"
#include "base/files/named_lock.h"
#include "shim/host/fd_path.h"
#include "shim/host/trust.h"
#include "shim/mount/source.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

static int find_directory(const char *path, bool make, struct source *out, struct err *err)
{
    const struct source_make how = {.who = {.uid = 0, .gid = 0}, .mode = 0700};

    if (make)
        return source_find_or_make(path, &how, out, err);
    if (source_find(path, out, err) < 0)
        return -1;
    if (!out->missing)
        return 0;
    errno = ENOENT;
    return err_sys(err, "%s", path);
}

int closed_directory_open(const char *path, bool make, char **real, struct err *err)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    char name[PATH_MAX];
    struct stat st;

    if (find_directory(path, make, &source, err) < 0)
        return -1;
    if (fstat(source.fd, &st) < 0)
        return err_sys(err, "%s", path);
    if (!source.directory || source.exposed || !trust_closed(&st) || (st.st_mode & S_IRWXO))
        return err_set(err, ERR_POLICY, "%s must be a directory that only root can look into",
                       path);
    _cleanup_fd_ int fd = openat(source.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fd_path(fd, name) < 0)
        return err_sys(err, "%s", path);
    *real = strdup(name);
    return *real ? steal_fd(&fd) : err_nomem(err);
}

int closed_directory_claim(int dirfd, const char *path, const char *name, const char *busy,
                           struct err *err)
{
    if (mkdirat(dirfd, name, 0700) < 0 && errno != EEXIST)
        return err_sys(err, "%s/%s", path, name);
    _cleanup_fd_ int fd = fd_open_directory(dirfd, name);
    if (fd < 0)
        return err_sys(err, "%s/%s", path, name);
    if (!named_lock(dirfd, name, fd, LOCK_EX))
        return err_set(err, ERR_LIMIT, "%s", busy);
    return steal_fd(&fd);
}
