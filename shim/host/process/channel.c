#include "shim/host/process/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t channel_fork(int *channel)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    pid_t pid = fork();
    int saved = errno;
    close(ends[pid == 0 ? 0 : 1]);
    *channel = ends[pid == 0 ? 1 : 0];
    if (pid < 0)
        close(*channel);
    errno = saved;
    return pid;
}

/* If the runtime's caller ignores SIGCHLD, there is nothing to wait for and waitpid fails. */
void channel_end(pid_t pid, int channel)
{
    int saved = errno;

    close(channel);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

union control {
    struct cmsghdr header; /* for alignment */
    char bytes[CMSG_SPACE(sizeof(int))];
};

void channel_send(int fd, int channel)
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

static int receive(int channel)
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

int channel_receive(pid_t pid, int channel)
{
    int fd = receive(channel);

    channel_end(pid, channel);
    return fd;
}
