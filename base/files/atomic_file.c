#include "base/files/atomic_file.h"

#include "base/fdio.h"
#include "base/files/dir_sync.h"
#include "base/files/named_lock.h"
#include "base/hex.h"
#include "base/path.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

static const char prefix[] = ".flatbed-";
enum { RANDOM_DIGITS = 16 };

static int random_name(char *out, size_t size, struct err *err)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return err_sys(err, "getrandom");
    snprintf(out, size, "%s%016llx", prefix, (unsigned long long)number);
    return 0;
}

/*
 * Locks the temporary file. Returns false if a sweep has it in hand, or has removed it. A file
 * system without locks is no reason to fail: no sweep can lock the file there either.
 */
static bool hold_temporary(int fd)
{
    struct stat st;

    return (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && fstat(fd, &st) == 0 &&
           st.st_nlink > 0;
}

int atomic_file_begin(struct atomic_file *f, int dirfd, const char *name, mode_t mode,
                      struct err *err)
{
    *f = (struct atomic_file)ATOMIC_FILE_INIT;
    if (strlen(name) >= sizeof(f->name) || !path_component_valid(name, strlen(name)))
        return err_set(err, ERR_USAGE, "'%s' is not a file name", name);
    memcpy(f->name, name, strlen(name) + 1);
    f->dirfd = dirfd;
    do {
        cleanup_fd(&f->fd);
        f->fd = -1;
        if (random_name(f->tmp, sizeof(f->tmp), err) < 0)
            return -1;
        f->fd = openat(dirfd, f->tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (f->fd < 0)
            return err_sys(err, "cannot create a temporary file beside %s", name);
    } while (!hold_temporary(f->fd));
    return 0;
}

/* Flushes and closes the file, and renames it; `lock` keeps it locked until it has its name. */
static int finish_file(struct atomic_file *f, struct err *err)
{
    _cleanup_fd_ int lock = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

    if (!f->fleeting && fsync(f->fd) < 0)
        return err_sys(err, "cannot write %s", f->name);
    if (close(steal_fd(&f->fd)) < 0)
        return err_sys(err, "cannot write %s", f->name);
    if (renameat(f->dirfd, f->tmp, f->dirfd, f->name) < 0)
        return err_sys(err, "cannot rename to %s", f->name);
    return f->fleeting || f->name_later ? 0 : dir_sync(f->dirfd, ".", err);
}

int atomic_file_commit(struct atomic_file *f, struct err *err)
{
    if (finish_file(f, err) == 0)
        return 0;
    cleanup_fd(&f->fd);
    f->fd = -1;
    unlinkat(f->dirfd, f->tmp, 0);
    return -1;
}

static bool is_temporary(const char *name)
{
    size_t len = sizeof(prefix) - 1;

    return strncmp(name, prefix, len) == 0 && hex_is(name + len, RANDOM_DIGITS);
}

bool atomic_file_sweep_one(int dirfd, const char *name, bool dry)
{
    static const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    _cleanup_fd_ int fd = is_temporary(name) ? openat(dirfd, name, flags) : -1;
    struct stat st;

    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           named_lock(dirfd, name, fd, LOCK_EX) && (dry || unlinkat(dirfd, name, 0) == 0);
}

size_t atomic_file_sweep(int dirfd, bool dry)
{
    DIR *dir = fd_list_directory(dirfd, ".");
    const struct dirent *entry;
    size_t count = 0;

    if (!dir)
        return 0;
    while ((entry = readdir(dir)))
        count += atomic_file_sweep_one(dirfd, entry->d_name, dry);
    closedir(dir);
    return count;
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
