/* The audit file: one line is appended at a time, and a file that has grown is rotated. */
#include "shim/audit/audit.h"

#include "base/path.h"
#include "shim/audit/audit_directory.h"
#include "shim/host/rundir.h"
#include "shim/host/trust.h"
#include "shim/mount/source.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { TRIES = 1000 };
enum { TORN_LINE = 32 * 1024 }; /* earlier versions wrote lines of that length */

static int make_directory(const char *path, struct err *err)
{
    static const struct source_make make = {.mode = 0750}; /* owned by root */
    _cleanup_source_ struct source made = SOURCE_INIT;
    const char *name;
    _cleanup_free_ char *dir = path_parent(path, &name);

    return dir ? source_find_or_make(dir, &make, &made, err) : err_nomem(err);
}

static int open_directory(const char *path, const char **name, struct err *err)
{
    int fd = audit_directory_open(path, true, name, err);

    if (fd >= 0 || err->sys != ENOENT)
        return fd;
    return make_directory(path, err) < 0 ? -1 : audit_directory_open(path, true, name, err);
}

/* ---- opening ---- */

/*
 * Opens the file, made if it is missing. Tries again, as another program may rotate the file
 * between the two calls.
 */
static int open_or_make(int dirfd, const char *name)
{
    static const int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

    for (int tries = 0; tries < TRIES; tries++) {
        int fd = openat(dirfd, name, flags);
        if (fd >= 0 || errno != ENOENT)
            return fd;
        fd = openat(dirfd, name, flags | O_CREAT | O_EXCL, 0640);
        if (fd >= 0 && fchmod(fd, 0640) < 0) /* the umask may have cleared bits */
            cleanup_fd(&fd);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static int open_checked(int dirfd, const char *name, struct stat *st, struct err *err)
{
    _cleanup_fd_ int fd = open_or_make(dirfd, name);

    if (fd < 0)
        return err_sys(err, "open");
    if (fstat(fd, st) < 0)
        return err_sys(err, "fstat");
    if (!S_ISREG(st->st_mode) || !trust_closed(st))
        return err_set(err, ERR_POLICY,
                       "must be a regular file, owned by root and not writable by others");
    return steal_fd(&fd);
}

/* ---- rotating ---- */

static int rename_to(int dirfd, const char *name, unsigned from, unsigned to)
{
    _cleanup_free_ char *source = from ? strf("%s.%u", name, from) : strdup(name);
    _cleanup_free_ char *target = strf("%s.%u", name, to);

    return source && target ? renameat(dirfd, source, dirfd, target) : -1;
}

static bool exists(int dirfd, const char *name, unsigned number)
{
    _cleanup_free_ char *path = strf("%s.%u", name, number);
    struct stat st;

    return path && fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Rotates: NAME becomes NAME.1, that NAME.2, and so on up to the first free number, so that an
 * interrupted rotation loses no file.
 */
static int rotate(int dirfd, const char *name, unsigned keep, struct err *err)
{
    unsigned last = 1;

    while (last < keep && exists(dirfd, name, last))
        last++;
    for (unsigned n = last; n > 0; n--)
        if (rename_to(dirfd, name, n - 1, n) < 0)
            return err_sys(err, "cannot rotate it to .%u", n);
    return 0;
}

/* Opens the file, rotated if it has no room for `len` bytes. */
static int open_with_room(int dirfd, const char *name, const struct policy_audit *audit, size_t len,
                          struct stat *st, struct err *err)
{
    _cleanup_fd_ int fd = open_checked(dirfd, name, st, err);

    if (fd < 0)
        return -1;
    if (st->st_size == 0 || (uint64_t)st->st_size + len <= audit->max_size)
        return steal_fd(&fd);
    if (rotate(dirfd, name, audit->keep, err) < 0)
        return -1;
    return open_checked(dirfd, name, st, err);
}

/* ---- writing ---- */

/* Cuts off the beginning of a line that a killed writer left. */
static int cut_torn_line(int fd, struct stat *st, struct err *err)
{
    char tail[TORN_LINE];
    size_t len = st->st_size < TORN_LINE ? (size_t)st->st_size : TORN_LINE;
    char last;

    if (!len)
        return 0;
    if (pread(fd, &last, 1, st->st_size - 1) != 1)
        return err_sys(err, "read");
    if (last == '\n')
        return 0;
    if (pread(fd, tail, len, st->st_size - (off_t)len) != (ssize_t)len)
        return err_sys(err, "read");
    const char *newline = memrchr(tail, '\n', len);
    if (!newline && (off_t)len < st->st_size)
        return err_set(err, ERR_FORMAT, "its last line is not an audit record");
    st->st_size -= (off_t)(newline ? len - (size_t)(newline + 1 - tail) : len);
    return ftruncate(fd, st->st_size) < 0 ? err_sys(err, "truncate") : 0;
}

static int write_line(int fd, const struct buf *line, off_t size, struct err *err)
{
    ssize_t n;

    do
        n = write(fd, line->data, line->len);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)line->len)
        return 0;
    if (n < 0)
        return err_sys(err, "write");
    if (ftruncate(fd, size) < 0)
        return err_sys(err, "truncate");
    return err_set(err, ERR_SYSTEM, "write: there is no room for the whole line");
}

static int append_line(int dirfd, const char *name, const struct policy_audit *audit,
                       const struct buf *line, struct err *err)
{
    struct stat st = {0};
    _cleanup_fd_ int fd = open_with_room(dirfd, name, audit, line->len, &st, err);

    if (fd < 0 || cut_torn_line(fd, &st, err) < 0)
        return -1;
    return write_line(fd, line, st.st_size, err);
}

/* The lock is not on the file, which any reader could lock, but where only root can take it. */
int audit_file_append(const struct policy_audit *audit, const struct buf *line, struct err *err)
{
    const char *name;
    _cleanup_fd_ int dirfd = open_directory(audit->file.text, &name, err);
    _cleanup_fd_ int lock = dirfd < 0 ? -1 : rundir_lock("audit", err);

    if (lock < 0)
        return -1;
    if (append_line(dirfd, name, audit, line, err) < 0)
        return err_wrap(err, "%s", audit->file.text);
    return 0;
}
