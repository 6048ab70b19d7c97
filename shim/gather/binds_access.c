/* What somebody else may read and write, tried by a child that has his ids. */
#include "shim/gather/binds_access.h"

#include "base/fdio.h"
#include "shim/gather/bind_name.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAY_READ = 1, MAY_WRITE = 2 };
enum { ANSWERS = 256 }; /* in one write */

/* The folder of the last source, which others share with it, and whether it lets the user in. */
struct way {
    const char *path;
    size_t len;
    bool open;
};

/* That of a source whose folders are root's alone: there is no other behind that path meanwhile. */
static bool leads_in(struct way *way, const char *path)
{
    size_t len = (size_t)(strrchr(path, '/') - path) + 1;

    if (way->path && way->len == len && memcmp(way->path, path, len) == 0)
        return way->open;
    _cleanup_free_ char *folder = strndup(path, len);
    _cleanup_fd_ int fd = folder ? bind_open(AT_FDCWD, folder) : -1;
    *way = (struct way){.path = path, .len = len};
    way->open = fd >= 0 && faccessat(fd, "", X_OK, AT_EACCESS | AT_EMPTY_PATH) == 0;
    return way->open;
}

static unsigned char try_it(int fd, bool directory)
{
    int through = directory ? X_OK : 0;
    unsigned char may = 0;

    if (faccessat(fd, "", R_OK | through, AT_EACCESS | AT_EMPTY_PATH) == 0)
        may |= MAY_READ;
    if (faccessat(fd, "", W_OK | through, AT_EACCESS | AT_EMPTY_PATH) == 0)
        may |= MAY_WRITE;
    return may;
}

/* With the ids on: the way there, then the thing itself. */
static unsigned char try_one(const struct bind_wish *wish, struct way *way)
{
    struct stat st;

    if (wish->fd < 0 || !wish->path)
        return 0;
    if (wish->settled)
        return leads_in(way, wish->path) ? try_it(wish->fd, wish->directory) : 0;
    _cleanup_fd_ int fd = bind_open(AT_FDCWD, wish->path);
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != wish->ino || st.st_dev != wish->dev)
        return 0;
    return try_it(fd, S_ISDIR(st.st_mode));
}

/* In the child: never returns. */
static void try_all(const struct bind_wish *wishes, size_t count, int channel)
{
    unsigned char may[ANSWERS];
    struct way way = {0};
    struct err ignored;

    for (size_t i = 0; i < count; i++) {
        size_t at = i % ANSWERS;
        may[at] = try_one(&wishes[i], &way);
        if ((at == ANSWERS - 1 || i == count - 1) &&
            fd_write_all(channel, may, at + 1, &ignored) < 0)
            _exit(1);
    }
    _exit(0);
}

static int read_answers(int channel, struct bind_wish *wishes, size_t count, struct err *err)
{
    unsigned char may[ANSWERS];
    size_t known = 0;

    while (known < count) {
        size_t want = count - known < ANSWERS ? count - known : ANSWERS;
        ssize_t n = read(channel, may, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set(err, ERR_POLICY, "the container's user cannot be tried on this host");
        for (ssize_t i = 0; i < n; i++, known++) {
            wishes[known].readable = may[i] & MAY_READ;
            wishes[known].writable = may[i] & MAY_WRITE;
        }
    }
    return 0;
}

int binds_try_access(const struct user_ids *user, struct bind_wish *wishes, size_t count,
                     struct err *err)
{
    int channel;
    pid_t pid = as_user_fork(user, &channel);

    if (pid < 0)
        return err_sys(err, "fork");
    if (pid == 0)
        try_all(wishes, count, channel);
    int rc = read_answers(channel, wishes, count, err);
    as_user_end(pid, channel);
    return rc;
}
