#include "base/fdio.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { READ_STEP = 16 * 1024 - 1 }; /* with its NUL, a size to which a buffer grows */

int fd_open_within(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
    enum { TRIES = 1000 };
    struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};
    int fd = -1;

    for (int i = 0; i < TRIES; i++) {
        fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
        if (fd >= 0 || errno != EAGAIN)
            break;
    }
    return fd;
}

int fd_open_directory(int dirfd, const char *path)
{
    return openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

DIR *fd_list_directory(int dirfd, const char *path)
{
    _cleanup_fd_ int fd = fd_open_directory(dirfd, path);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (dir)
        steal_fd(&fd);
    return dir;
}

/* Returns the size of a regular file, 0 if it is unknown, as in /proc. */
static size_t file_size(const struct stat *st)
{
    bool known = S_ISREG(st->st_mode) && st->st_size > 0 && st->st_size < INT32_MAX;

    return known ? (size_t)st->st_size : 0;
}

int fd_read_all(int fd, size_t limit, struct buf *out, struct err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        st.st_mode = 0;
    return fd_read_file(fd, &st, limit, out, err);
}

/* Asks for one byte more than st_size, so that the same read(2) also finds the end. */
int fd_read_file(int fd, const struct stat *st, size_t limit, struct buf *out, struct err *err)
{
    size_t total = 0, size = file_size(st), step = size ? size + 1 : READ_STEP;

    for (;;) {
        if (step > limit - total)
            step = limit - total + 1;
        char *end = buf_reserve(out, step);
        if (!end)
            return err_nomem(err);
        ssize_t n = read(fd, end, step);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "read");
        if (n == 0)
            return 0;
        size_t kept = (size_t)n > limit - total ? limit - total : (size_t)n;
        out->len += kept;
        out->data[out->len] = '\0';
        total += kept;
        if ((size_t)n > kept)
            return err_set(err, ERR_LIMIT, "larger than %zu bytes", limit);
        if (size && total == size && (size_t)n < step)
            return 0;
        size_t spare = out->cap - out->len - 1;
        step = spare ? spare : READ_STEP;
    }
}

int fd_read_regular(int fd, size_t limit, struct buf *out, struct err *err)
{
    _cleanup_fd_ int opened = -1;
    struct stat st;
    char self[40];

    if (fstat(fd, &st) < 0)
        return err_sys(err, "fstat");
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_FORMAT, "not a regular file");
    if (fcntl(fd, F_GETFL) & O_PATH) {
        snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
        opened = open(self, O_RDONLY | O_CLOEXEC);
        if (opened < 0)
            return err_sys(err, "open");
        fd = opened;
    }
    return fd_read_file(fd, &st, limit, out, err);
}

int file_read(int dirfd, const char *path, size_t limit, struct buf *out, struct err *err)
{
    /* O_NONBLOCK: opening a FIFO must not block before it is refused. */
    _cleanup_fd_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return err_sys(err, "%s", path);
    return fd_read_regular(fd, limit, out, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

int fd_write_all(int fd, const void *data, size_t len, struct err *err)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "write");
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int fd_pwrite_all(int fd, const void *data, size_t len, off_t offset, struct err *err)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = pwrite(fd, p, len, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "write");
        p += n;
        len -= (size_t)n;
        offset += n;
    }
    return 0;
}

int fd_pread_exact(int fd, void *data, size_t len, off_t offset, struct err *err)
{
    char *p = data;

    while (len > 0) {
        ssize_t n = pread(fd, p, len, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "read");
        if (n == 0)
            return err_set(err, ERR_FORMAT, "the file ends too early");
        p += n;
        len -= (size_t)n;
        offset += n;
    }
    return 0;
}

/* Copies through memory: for files that the kernel cannot copy from one to the other. */
static int copy_through(int from, off_t from_offset, uint64_t len, int to, off_t to_offset,
                        struct err *err)
{
    enum { PIECE = 1024 * 1024 };
    _cleanup_free_ char *piece = malloc(PIECE);

    if (!piece)
        return err_nomem(err);
    while (len > 0) {
        size_t n = len < PIECE ? (size_t)len : PIECE;
        if (fd_pread_exact(from, piece, n, from_offset, err) < 0 ||
            fd_pwrite_all(to, piece, n, to_offset, err) < 0)
            return -1;
        from_offset += (off_t)n;
        to_offset += (off_t)n;
        len -= n;
    }
    return 0;
}

int fd_copy_range(int from, off_t from_offset, uint64_t len, int to, off_t to_offset,
                  struct err *err)
{
    enum { PIECE = 1 << 30 };

    while (len > 0) {
        ssize_t n = copy_file_range(from, &from_offset, to, &to_offset,
                                    len < PIECE ? (size_t)len : PIECE, 0);
        if (n < 0 && errno == EINTR)
            continue;
        /*
         * Fails or returns 0 across file systems, on old kernels, for a memory file, and at an
         * early end of the file, which copy_through reports.
         */
        if (n <= 0)
            return copy_through(from, from_offset, len, to, to_offset, err);
        len -= (uint64_t)n;
    }
    return 0;
}
