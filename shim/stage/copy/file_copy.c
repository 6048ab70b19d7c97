#include "shim/stage/copy/file_copy.h"

#include "base/fdio.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

enum { CHUNK = 8 * 1024 * 1024 };

/* ---- content ---- */

static int fail_short(struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "it became shorter while it was copied");
}

/* Copies a range through the buffer. */
static int copy_by_hand(int from, off_t at, uint64_t len, int to, void *buffer, uint64_t room,
                        const struct copy_meter *meter, struct err *err)
{
    while (len) {
        ssize_t n = pread(from, buffer, len < room ? len : room, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? err_sys(err, "cannot read") : fail_short(err);
        if (fd_pwrite_all(to, buffer, (size_t)n, at, err) < 0)
            return -1;
        at += n;
        len -= (uint64_t)n;
        meter->count(meter->context, (uint64_t)n);
    }
    return 0;
}

/* True for the answers of a kernel that cannot copy between these two files. */
static bool cannot_copy(int error)
{
    return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ||
           error == EBADF || error == EPERM;
}

static int copy_range(int from, off_t at, uint64_t len, int to, void *buffer, uint64_t room,
                      const struct copy_meter *meter, struct err *err)
{
    bool in_kernel = len > room; /* for a small file it is one more call */

    while (len && in_kernel) {
        off_t in = at, out = at;
        ssize_t n = copy_file_range(from, &in, to, &out, len < CHUNK ? len : CHUNK, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && !cannot_copy(errno))
            return err_sys(err, "cannot copy");
        in_kernel = n > 0; /* 0: the end, or a file system that cannot tell */
        if (n <= 0)
            continue;
        at += n;
        len -= (uint64_t)n;
        meter->count(meter->context, (uint64_t)n);
    }
    return copy_by_hand(from, at, len, to, buffer, room, meter, err);
}

int content_copy(int from, uint64_t size, bool sparse, int to, void *buffer, uint64_t room,
                 const struct copy_meter *meter, struct err *err)
{
    uint64_t at = 0;

    while (at < size) {
        off_t data = sparse ? lseek(from, (off_t)at, SEEK_DATA) : (off_t)at;
        if (data < 0 && errno == ENXIO)
            break; /* only a hole is left */
        off_t hole = data < 0 || !sparse ? (off_t)size : lseek(from, data, SEEK_HOLE);
        if (data < (off_t)at)
            data = (off_t)at; /* the file system knows no holes, or tells lies */
        if (hole <= data || (uint64_t)hole > size)
            hole = (off_t)size;
        if ((uint64_t)data >= size)
            break;
        if (copy_range(from, data, (uint64_t)(hole - data), to, buffer, room, meter, err) < 0)
            return -1;
        at = (uint64_t)hole;
    }
    return sparse && ftruncate(to, (off_t)size) < 0 ? err_sys(err, "cannot set the size") : 0;
}

/* ---- attributes ---- */

static bool is_wanted(const char *name)
{
    return strncmp(name, "user.", strlen("user.")) == 0 ||
           strcmp(name, "system.posix_acl_access") == 0 ||
           strcmp(name, "system.posix_acl_default") == 0;
}

static int read_xattr(int fd, const char *name, struct buf *out, struct err *err)
{
    ssize_t len = fgetxattr(fd, name, NULL, 0);

    if (len < 0)
        return errno == ENODATA ? 0 : err_sys(err, "attribute %s", name);
    size_t size = (size_t)len;
    buf_append(out, name, strlen(name) + 1);
    buf_append(out, &size, sizeof(size));
    char *value = buf_reserve(out, size);
    if (!value)
        return err_nomem(err);
    if (fgetxattr(fd, name, value, size) != len)
        return err_sys(err, "attribute %s", name);
    out->len += size;
    return 0;
}

int xattrs_read(int fd, struct buf *out, struct err *err)
{
    ssize_t len = flistxattr(fd, NULL, 0);

    if (len <= 0)
        return len == 0 || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : err_sys(err, "attributes");
    _cleanup_free_ char *names = malloc((size_t)len);
    if (!names)
        return err_nomem(err);
    len = flistxattr(fd, names, (size_t)len);
    if (len < 0)
        return err_sys(err, "attributes");
    for (const char *name = names; name < names + len; name += strlen(name) + 1)
        if (is_wanted(name) && read_xattr(fd, name, out, err) < 0)
            return -1;
    return 0;
}

int xattrs_write(int fd, const char *data, size_t len, struct err *err)
{
    const char *end = data + len;
    size_t size;

    while (data < end) {
        const char *name = data;
        data += strlen(name) + 1;
        memcpy(&size, data, sizeof(size));
        data += sizeof(size);
        if (fsetxattr(fd, name, data, size, 0) < 0 && errno != EOPNOTSUPP)
            return err_sys(err, "attribute %s", name);
        data += size;
    }
    return 0;
}

int attributes_set(int fd, const struct statx *st, struct err *err)
{
    const struct timespec times[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = st->stx_mtime.tv_sec, .tv_nsec = st->stx_mtime.tv_nsec},
    };

    if (fchown(fd, st->stx_uid, st->stx_gid) < 0 || fchmod(fd, st->stx_mode & 07777) < 0 ||
        futimens(fd, times) < 0)
        return err_sys(err, "owner, mode or time");
    return 0;
}
