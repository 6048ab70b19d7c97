#include "flatten/keeper/files/file_beneath.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <unistd.h>

static int open_beneath(int dir, const char *path, uint64_t flags)
{
    return fd_open_within(dir, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Explains a failure of open_beneath. Returns -1. */
static int explain(const char *path, struct err *err)
{
    if (errno == ELOOP || errno == EXDEV)
        return err_set(
            err, ERR_FORMAT,
            "%s is a symlink, or behind one: a layout must hold its files itself (cp -rL "
            "makes such a copy)",
            path);
    return err_sys(err, "%s%s", path, errno == ENOSYS ? ": openat2 (Linux 5.6)" : "");
}

int file_beneath_open(int dir, const char *path, struct stat *st, struct err *err)
{
    _cleanup_fd_ int place = open_beneath(dir, path, O_PATH);
    struct stat seen;

    if (place < 0)
        return explain(path, err);
    if (fstat(place, &seen) < 0)
        return err_sys(err, "%s", path);
    if (!S_ISREG(seen.st_mode))
        return err_set(err, ERR_FORMAT, "%s is not a regular file", path);
    _cleanup_fd_ int fd = open_beneath(dir, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return explain(path, err);
    if (fstat(fd, st) < 0)
        return err_sys(err, "%s", path);
    if (st->st_dev != seen.st_dev || st->st_ino != seen.st_ino)
        return err_set(err, ERR_FORMAT, "%s was replaced while it was opened", path);
    return steal_fd(&fd);
}

int file_beneath_read(int dir, const char *path, size_t limit, struct buf *out, struct err *err)
{
    struct stat st;
    _cleanup_fd_ int fd = file_beneath_open(dir, path, &st, err);

    if (fd < 0)
        return -1;
    return fd_read_file(fd, &st, limit, out, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

int store_directory_open(const char *path, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "%s", path);
    if (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
        return err_set(err, ERR_UNSUPPORTED, "%s is not owned by root, or others may write to it",
                       path);
    return steal_fd(&fd);
}
