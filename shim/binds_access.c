/* What somebody else may read and write, tried by a child that has his ids. */
#include "shim/binds_look.h"

#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { MAY_READ = 1, MAY_WRITE = 2 };

/* With the ids on: the way there, then the thing itself. */
static unsigned char try_one(const struct bind_wish *wish)
{
    struct stat st, held;
    _cleanup_fd_ int fd = wish->fd < 0 || !wish->path ? -1 : binds_open(AT_FDCWD, wish->path);

    if (fd < 0 || fstat(fd, &st) < 0 || fstat(wish->fd, &held) < 0 || st.st_ino != held.st_ino ||
        st.st_dev != held.st_dev)
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
static void try_all(uid_t uid, gid_t gid, const gid_t *groups, size_t group_count,
                    const struct bind_wish *wishes, size_t count, int out)
{
    if (setgroups(group_count, groups) < 0 || setresgid(gid, gid, gid) < 0 ||
        setresuid(uid, uid, uid) < 0)
        _exit(1);
    for (size_t i = 0; i < count; i++) {
        unsigned char may = try_one(&wishes[i]);
        if (write(out, &may, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static int read_answers(int in, struct bind_wish *wishes, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char may;
        ssize_t n;
        do
            n = read(in, &may, 1);
        while (n < 0 && errno == EINTR);
        if (n != 1)
            return err_set(err, ERR_POLICY, "the container's user cannot be tried on this host");
        wishes[i].readable = may & MAY_READ;
        wishes[i].writable = may & MAY_WRITE;
    }
    return 0;
}

int binds_try_access(uid_t uid, gid_t gid, const gid_t *groups, size_t group_count,
                     struct bind_wish *wishes, size_t count, struct err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    pid_t pid = fork();
    if (pid == 0)
        try_all(uid, gid, groups, group_count, wishes, count, ends[1]);
    int saved = errno;
    close(ends[1]);
    errno = saved;
    int rc = pid < 0 ? err_sys(err, "fork") : read_answers(ends[0], wishes, count, err);
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return rc;
}
