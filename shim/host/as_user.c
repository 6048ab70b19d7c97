#include "shim/host/as_user.h"

#include "base/cleanup.h"
#include "base/fdio.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Takes on the ids, in the child. The signal comes last: a change of ids clears it. */
static void become_user(const struct user_ids *ids)
{
    if (setgroups(ids->group_count, ids->groups) < 0 ||
        setresgid(ids->gid, ids->gid, ids->gid) < 0 ||
        setresuid(ids->uid, ids->uid, ids->uid) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        _exit(1);
}

pid_t as_user_fork(const struct user_ids *ids, int *channel)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    pid_t pid = fork();
    int saved = errno;
    close(ends[pid == 0 ? 0 : 1]);
    *channel = ends[pid == 0 ? 1 : 0];
    if (pid == 0)
        become_user(ids);
    else if (pid < 0)
        close(*channel);
    errno = saved;
    return pid;
}

/* If the runtime's caller ignores SIGCHLD, there is nothing to wait for and waitpid fails. */
void as_user_end(pid_t pid, int channel)
{
    int saved = errno;

    close(channel);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

/* ---- a descriptor ---- */

union control {
    struct cmsghdr header; /* for alignment */
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* In the child: sends the descriptor, or, for -1, errno. Does not return. */
static void send_opened(int fd, int channel)
{
    int result = fd < 0 ? errno : 0;
    union control control = {0};
    struct iovec part = {.iov_base = &result, .iov_len = sizeof(result)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        *header = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fd))};
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    _exit(sendmsg(channel, &message, MSG_NOSIGNAL) < 0 ? 1 : 0);
}

static int receive_descriptor(int channel)
{
    int result = EIO, fd = -1;
    union control control = {0};
    struct iovec part = {.iov_base = &result, .iov_len = sizeof(result)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t n;

    do
        n = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    if (fd < 0)
        errno = n == (ssize_t)sizeof(result) && result ? result : EIO;
    return fd;
}

static int receive_and_end(pid_t pid, int channel)
{
    int fd = receive_descriptor(channel);

    as_user_end(pid, channel);
    return fd;
}

int as_user_open(const struct user_ids *ids, int dirfd, const char *name)
{
    int channel;
    pid_t pid = as_user_fork(ids, &channel);

    if (pid == 0)
        send_opened(openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), channel);
    return pid < 0 ? -1 : receive_and_end(pid, channel);
}

static int enter(int dirfd, const char *path, uint64_t resolve)
{
    int fd = fd_open_within(dirfd, path, O_PATH | O_DIRECTORY, resolve);

    return fd >= 0 && faccessat(fd, "", X_OK, AT_EACCESS | AT_EMPTY_PATH) == 0 ? fd : -1;
}

int as_user_enter(const struct user_ids *ids, int dirfd, const char *path, uint64_t resolve)
{
    int channel;
    pid_t pid = as_user_fork(ids, &channel);

    if (pid == 0)
        send_opened(enter(dirfd, path, resolve), channel);
    return pid < 0 ? -1 : receive_and_end(pid, channel);
}

/* ---- a path ---- */

/* Opens the path, or what there is of the directories above it: `path` is cut off there. */
static int open_deepest(int dir, char *path)
{
    static const unsigned way = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;

    for (char *slash; (slash = strrchr(path, '/'));) {
        *slash = '\0';
        int fd = fd_open_within(dir, path, O_PATH | O_DIRECTORY, way);
        if (fd >= 0 || errno != ENOENT)
            return fd;
    }
    return fd_open_within(dir, ".", O_PATH | O_DIRECTORY, way);
}

static enum user_reach try_path(int dir, const char *path)
{
    _cleanup_fd_ int fd = fd_open_within(dir, path, O_PATH, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

    if (fd >= 0 || (errno != ENOENT && errno != EACCES && errno != EPERM))
        return USER_REACHES;
    if (errno != ENOENT)
        return USER_CLOSED;
    _cleanup_free_ char *above = strdup(path);
    _cleanup_fd_ int deepest = above ? open_deepest(dir, above) : -1;
    if (deepest < 0 || faccessat(deepest, "", X_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
        return USER_CLOSED;
    return faccessat(deepest, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) == 0 ? USER_MAKES : USER_LACKS;
}

enum user_reach as_user_reach(const struct user_ids *ids, int dir, const char *path)
{
    unsigned char reach = USER_CLOSED;
    int channel;
    pid_t pid = as_user_fork(ids, &channel);

    if (pid < 0)
        return USER_CLOSED;
    if (pid == 0) {
        reach = (unsigned char)try_path(dir, path);
        _exit(write(channel, &reach, 1) != 1);
    }
    while (read(channel, &reach, 1) < 0 && errno == EINTR)
        ;
    as_user_end(pid, channel);
    return (enum user_reach)reach;
}
