#include "shim/admin/zfs/store/store_files.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <linux/openat2.h>

enum { JSON_BYTES = 32 * 1024 * 1024 };

static int open_within(int root, const char *path, uint64_t flags)
{
    return fd_open_within(root, path, flags | O_RDONLY | O_NONBLOCK | O_NOCTTY,
                          RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

DIR *store_directory(int root, const char *path)
{
    _cleanup_fd_ int fd = open_within(root, path, O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (dir)
        steal_fd(&fd);
    return dir;
}

int store_file(int root, const char *path, size_t most, struct buf *out, struct err *err)
{
    _cleanup_fd_ int fd = open_within(root, path, 0);

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 1 : err_sys(err, "%s", path);
    return fd_read_regular(fd, most, out, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

struct json_doc *store_json(int root, const char *path, struct err *err)
{
    static const struct json_options options = {.max_bytes = JSON_BYTES,
                                                .max_memory = 2 * JSON_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (store_file(root, path, JSON_BYTES, &text, err) != 0)
        return NULL;
    struct json_doc *doc = json_parse_buf(&text, &options, err);
    if (!doc)
        err_wrap(err, "%s", path);
    return doc;
}
