#include "base/fdio.h"

#include "base/path.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { READ_STEP = 16 * 1024 - 1 }; /* with its NUL, a size to which a buffer grows */

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

int file_read(int dirfd, const char *path, size_t limit, struct buf *out, struct err *err)
{
    /* O_NONBLOCK: opening a FIFO must not block before it is refused. */
    _cleanup_fd_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "%s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_FORMAT, "%s: not a regular file", path);
    if (fd_read_file(fd, &st, limit, out, err) < 0)
        return err_wrap(err, "%s", path);
    return 0;
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

static int random_name(char *out, size_t size, struct err *err)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return err_sys(err, "getrandom");
    snprintf(out, size, ".flatbed-%016llx", (unsigned long long)number);
    return 0;
}

int atomic_file_begin(struct atomic_file *f, int dirfd, const char *name, mode_t mode,
                      struct err *err)
{
    *f = (struct atomic_file)ATOMIC_FILE_INIT;
    if (strlen(name) >= sizeof(f->name) || !path_component_valid(name, strlen(name)))
        return err_set(err, ERR_USAGE, "'%s' is not a file name", name);
    if (random_name(f->tmp, sizeof(f->tmp), err) < 0)
        return -1;
    memcpy(f->name, name, strlen(name) + 1);
    f->dirfd = dirfd;
    f->fd = openat(dirfd, f->tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (f->fd < 0)
        return err_sys(err, "cannot create a temporary file beside %s", name);
    return 0;
}

int atomic_file_commit(struct atomic_file *f, struct err *err)
{
    if (!f->fleeting && fsync(f->fd) < 0) {
        err_sys(err, "cannot write %s", f->name);
        atomic_file_abort(f);
        return -1;
    }
    if (close(steal_fd(&f->fd)) < 0) {
        err_sys(err, "cannot write %s", f->name);
        unlinkat(f->dirfd, f->tmp, 0);
        return -1;
    }
    if (renameat(f->dirfd, f->tmp, f->dirfd, f->name) < 0) {
        err_sys(err, "cannot rename to %s", f->name);
        unlinkat(f->dirfd, f->tmp, 0);
        return -1;
    }
    return 0;
}

void atomic_file_abort(struct atomic_file *f)
{
    if (f->fd < 0)
        return;
    int saved = errno;
    close(steal_fd(&f->fd));
    unlinkat(f->dirfd, f->tmp, 0);
    errno = saved;
}
