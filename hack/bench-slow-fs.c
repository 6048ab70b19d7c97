/*
 * A file system of FUSE that shows a directory read-only as a file server would that is far: each
 * request takes some milliseconds more. Attributes are kept for 3 s and pages until a file changes,
 * as by an NFS client. For hack/bench-stage.
 *
 *     bench-slow-fs DIRECTORY MILLISECONDS MOUNTPOINT [OPTIONS OF FUSE]
 */
#define FUSE_USE_VERSION 35
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int top;
static struct timespec delay;

static const char *name_of(const char *path)
{
    return path[1] ? path + 1 : ".";
}

static void travel(void)
{
    nanosleep(&delay, NULL);
}

static void *slow_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    (void)connection;
    config->use_ino = 1;
    config->auto_cache = 1;
    config->attr_timeout = config->entry_timeout = 3;
    return NULL;
}

static int slow_getattr(const char *path, struct stat *st, struct fuse_file_info *file)
{
    travel();
    int rc = file ? fstat((int)file->fh, st) : fstatat(top, name_of(path), st, AT_SYMLINK_NOFOLLOW);
    return rc < 0 ? -errno : 0;
}

static int slow_readlink(const char *path, char *target, size_t size)
{
    travel();
    ssize_t len = readlinkat(top, name_of(path), target, size - 1);
    if (len < 0)
        return -errno;
    target[len] = '\0';
    return 0;
}

static int slow_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                        struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
    (void)offset, (void)file, (void)flags;
    travel();
    int fd = openat(top, name_of(path), O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;

    if (!dir)
        return -errno;
    while ((e = readdir(dir)))
        fill(buffer, e->d_name, NULL, 0, 0);
    closedir(dir);
    return 0;
}

static int slow_open(const char *path, struct fuse_file_info *file)
{
    travel();
    int fd = openat(top, name_of(path), file->flags & ~O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    file->fh = (uint64_t)fd;
    return 0;
}

static int slow_read_buf(const char *path, struct fuse_bufvec **out, size_t size, off_t offset,
                         struct fuse_file_info *file)
{
    struct fuse_bufvec *buffer = malloc(sizeof(*buffer));

    (void)path;
    if (!buffer)
        return -ENOMEM;
    travel();
    *buffer = FUSE_BUFVEC_INIT(size);
    buffer->buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
    buffer->buf[0].fd = (int)file->fh;
    buffer->buf[0].pos = offset;
    *out = buffer;
    return 0;
}

static int slow_release(const char *path, struct fuse_file_info *file)
{
    (void)path;
    close((int)file->fh);
    return 0;
}

static const struct fuse_operations operations = {
    .init = slow_init,
    .getattr = slow_getattr,
    .readlink = slow_readlink,
    .readdir = slow_readdir,
    .open = slow_open,
    .read_buf = slow_read_buf,
    .release = slow_release,
};

int main(int argc, char *argv[])
{
    if (argc < 4 || (top = open(argv[1], O_RDONLY | O_DIRECTORY)) < 0) {
        fputs("usage: bench-slow-fs DIRECTORY MILLISECONDS MOUNTPOINT [OPTIONS]\n", stderr);
        return 2;
    }
    long microseconds = (long)(strtod(argv[2], NULL) * 1000);
    delay = (struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000};
    argv[2] = argv[0];
    return fuse_main(argc - 2, argv + 2, &operations, NULL);
}
