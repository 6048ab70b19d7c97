#include "shim/host/rundir.h"

#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "shim/host/lock.h"
#include "shim/host/trust.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { LOCK_MILLISECONDS = 10 * 1000 };

/* Replaces *fd by its subdirectory, which must be owned by root and not writable by others. */
static int enter_directory(int *fd, const char *name, mode_t mode, bool make, struct err *err)
{
    static const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    _cleanup_fd_ int next = openat(*fd, name, flags);
    struct stat st;
    bool made = false;

    if (next < 0 && errno == ENOENT && make) {
        made = mkdirat(*fd, name, mode) == 0;
        if (!made && errno != EEXIST)
            return err_sys(err, "cannot make '%s' in /run/flatbed", name);
        next = openat(*fd, name, flags);
    }
    if (next < 0 || fstat(next, &st) < 0)
        return err_sys(err, "/run: '%s'", name);
    if (!trust_closed(&st))
        return err_set(err, ERR_POLICY,
                       "/run: '%s' must be owned by root and must not be writable by others", name);
    if (made && fchmod(next, mode) < 0) /* whatever the umask */
        return err_sys(err, "/run: '%s'", name);
    cleanup_fd(fd);
    *fd = steal_fd(&next);
    return 0;
}

int rundir_open(const char *kind, const char *name, bool make, struct err *err)
{
    if (trust_rootless())
        return err_set(err, ERR_UNSUPPORTED, "a rootless runtime keeps nothing in /run/flatbed");
    _cleanup_fd_ int fd = AT_FDCWD;
    if (enter_directory(&fd, "/run/flatbed", 0755, make, err) < 0 ||
        enter_directory(&fd, kind, 0700, make, err) < 0)
        return -1;
    if (name && enter_directory(&fd, name, 0700, make, err) < 0)
        return -1;
    return steal_fd(&fd);
}

bool rundir_lacks(const char *kind, const char *directory, const char *name)
{
    _cleanup_free_ char *path = strf("/run/flatbed/%s/%s/%s", kind, directory, name);

    return path && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

int rundir_lock(const char *kind, struct err *err)
{
    _cleanup_fd_ int fd = rundir_open(kind, NULL, true, err);

    if (fd < 0)
        return -1;
    if (lock_wait(fd, LOCK_MILLISECONDS, err) < 0)
        return err_wrap(err, "/run/flatbed/%s", kind);
    return steal_fd(&fd);
}

int rundir_hold(int dirfd, struct err *err)
{
    return lock_wait(dirfd, LOCK_MILLISECONDS, err);
}

bool rundir_try_hold(int dirfd)
{
    return flock(dirfd, LOCK_EX | LOCK_NB) == 0;
}

int rundir_escape(const char *text, struct buf *out, struct err *err)
{
    for (const char *p = text; *p && out->len <= RUNDIR_NAME; p++) {
        bool plain = isalnum((unsigned char)*p) || strchr("-_", *p) || (*p == '.' && out->len);
        if (plain)
            buf_putc(out, *p);
        else
            buf_printf(out, "%%%02X", (unsigned char)*p);
    }
    if (out->len > RUNDIR_NAME)
        return err_set(err, ERR_LIMIT, "'%.40s…' is too long for a file's name", text);
    return buf_check(out, err);
}

bool rundir_unescape(const char *name, size_t len, struct buf *out)
{
    _cleanup_buf_ struct buf again = BUF_INIT;
    struct err ignored;
    size_t before = out->len;

    for (size_t i = 0; i < len; i++) {
        char hex[3] = {0};
        if (name[i] == '%' && len - i > 2) {
            memcpy(hex, name + i + 1, 2);
            buf_putc(out, (char)strtol(hex, NULL, 16));
            i += 2;
        } else {
            buf_putc(out, name[i]);
        }
    }
    return !out->failed && out->len > before &&
           rundir_escape(out->data + before, &again, &ignored) == 0 && again.len == len &&
           memcmp(again.data, name, len) == 0;
}

int rundir_read(int dirfd, const char *name, size_t limit, struct buf *out, struct err *err)
{
    struct stat st;
    _cleanup_fd_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "/run/flatbed: '%s'", name);
    if (!S_ISREG(st.st_mode) || !trust_closed(&st))
        return err_set(
            err, ERR_POLICY,
            "/run/flatbed: '%s' must be a regular file, owned by root and not writable by others",
            name);
    return fd_read_file(fd, &st, limit, out, err);
}

int rundir_write(int dirfd, const char *name, const struct buf *text, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    if (atomic_file_begin(&file, dirfd, name, 0600, err) < 0)
        return -1;
    file.fleeting = true;
    if (fd_write_all(file.fd, text->data, text->len, err) < 0)
        return -1;
    return atomic_file_commit(&file, err);
}
