#include "shim/runtime/exec/inherited_fds.h"

#include "base/buf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 3, MOST = 1024, MOST_BESIDE = 64 };

/* Reads a decimal number. Returns -1 for anything else, and for more than MOST. */
static int read_count(const char *text)
{
    size_t len = strlen(text);

    if (len == 0 || len > 4 || strspn(text, "0123456789") != len)
        return -1;
    int count = atoi(text);
    return count <= MOST && (text[0] != '0' || len == 1) ? count : -1;
}

/* Returns the number of descriptors that systemd's protocol passes to this process. */
static int listen_count(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

    if (!pid || !count || strtoll(pid, NULL, 10) != getpid())
        return 0;
    return read_count(count);
}

/* A descriptor that closes on exec is this program's own: the engine passed none there. */
static int check_one(int fd, struct err *err)
{
    int flags = fcntl(fd, F_GETFD);
    struct stat st;

    if (flags < 0 || (flags & FD_CLOEXEC))
        return err_set(err, ERR_POLICY,
                       "the descriptor %d is not open: the low-level runtime would give the "
                       "container one of its own; open it, or leave it out of --preserve-fds",
                       fd);
    if (fstat(fd, &st) < 0)
        return err_sys(err, "the descriptor %d", fd);
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_POLICY,
                       "the descriptor %d is a directory, through which the container would reach "
                       "the files of the host: use a mount",
                       fd);
    return 0;
}

int inherited_fds_check(const char *preserve_fds, struct err *err)
{
    int listened = listen_count(), preserved = preserve_fds ? read_count(preserve_fds) : 0;

    if (listened < 0 || preserved < 0)
        return err_set(err, ERR_USAGE, "%s: '%s' is not a number of descriptors up to %d",
                       preserved < 0 ? "--preserve-fds" : "LISTEN_FDS",
                       preserved < 0 ? preserve_fds : getenv("LISTEN_FDS"), MOST);
    for (int fd = FIRST; fd < FIRST + listened + preserved; fd++)
        if (check_one(fd, err) < 0)
            return -1;
    return 0;
}

int inherited_fds_next(const char *preserve_fds, struct err *err)
{
    int preserved = preserve_fds ? read_count(preserve_fds) : 0;

    if (preserved >= 0 && preserved <= MOST_BESIDE && !getenv("LISTEN_FDS"))
        return FIRST + preserved;
    return err_set(err, ERR_POLICY,
                   "the policy's rules hold for an exec in this container: unset LISTEN_FDS, and "
                   "hand on %d descriptors at most",
                   MOST_BESIDE);
}

char *inherited_fds_hand_on(int fd, int number, struct err *err)
{
    if ((fd == number ? fcntl(fd, F_SETFD, 0) : dup2(fd, number)) < 0) {
        err_sys(err, "the descriptor %d", number);
        return NULL;
    }
    char *count = strf("%d", number + 1 - FIRST);
    if (!count)
        err_nomem(err);
    return count;
}
