/* What somebody else may read and write, tried by a child that has his ids. */
#include "shim/binds_look.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAY_READ = 1, MAY_WRITE = 2 };
enum { ANSWERS = 256 }; /* in one write */

/* With the ids on: the way there, then the thing itself. */
static unsigned char try_one(const struct bind_wish *wish)
{
    struct stat st;
    _cleanup_fd_ int fd = wish->fd < 0 || !wish->path ? -1 : binds_open(AT_FDCWD, wish->path);

    if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != wish->ino || st.st_dev != wish->dev)
        return 0;
    int through = S_ISDIR(st.st_mode) ? X_OK : 0;
    unsigned char may = 0;
    if (faccessat(fd, "", R_OK | through, AT_EACCESS | AT_EMPTY_PATH) == 0)
        may |= MAY_READ;
    if (faccessat(fd, "", W_OK | through, AT_EACCESS | AT_EMPTY_PATH) == 0)
        may |= MAY_WRITE;
    return may;
}

/* In the child: never returns. */
static void try_all(const struct bind_wish *wishes, size_t count, int channel)
{
    unsigned char may[ANSWERS];
    struct err ignored;

    for (size_t i = 0; i < count; i++) {
        size_t at = i % ANSWERS;
        may[at] = try_one(&wishes[i]);
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
