#include "shim/host/process/channel.h"

#include "base/clock.h"
#include "shim/host/process/child_kill.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child has none of the engine's pipes as 0 to 2: one that SIGKILL does not end keeps them. */
static void begin_child(struct channel *channel, int fd)
{
    channel->fd = fd;
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++)
        if (standard != fd)
            close(standard);
}

pid_t channel_fork(struct channel *channel)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    pid_t pid = fork();
    int saved = errno;
    close(ends[pid == 0 ? 0 : 1]);
    *channel = (struct channel){.fd = ends[0], .child = pid};
    if (pid == 0)
        begin_child(channel, ends[1]);
    else if (pid < 0)
        close(ends[0]);
    errno = saved;
    return pid;
}

/* ---- answers ---- */

/* The limits of this process, in milliseconds. */
static long answer_limit = CHANNEL_SECONDS * 1000L;
static long budget = LONG_MAX;

void channel_set_budget(unsigned milliseconds)
{
    budget = (long)milliseconds;
}

void channel_wait_on(void)
{
    answer_limit = INT_MAX;
    budget = LONG_MAX;
}

/*
 * Waits for an answer, or the end of the child. Returns as poll(2) does: 0 if there is none in
 * time.
 */
static int poll_answer(const struct channel *channel)
{
    long limit = budget < answer_limit ? budget : answer_limit, passed;
    int64_t start = clock_ms();
    struct pollfd p = {.fd = channel->fd, .events = POLLIN};
    int ready;

    do {
        passed = clock_ms() - start;
        ready = poll(&p, 1, passed < limit ? (int)(limit - passed) : 0);
    } while (ready < 0 && errno == EINTR);
    if (budget != LONG_MAX) {
        passed = clock_ms() - start;
        budget -= passed < budget ? passed : budget;
    }
    return ready;
}

/* Returns 0 if there is an answer or the child has ended; otherwise kills it. */
static int await_answer(struct channel *channel)
{
    int ready = poll_answer(channel);

    if (ready != 0)
        return ready < 0 ? -1 : 0;
    channel->silent = true;
    child_kill(channel->child);
    errno = ETIMEDOUT;
    return -1;
}

ssize_t channel_read(struct channel *channel, void *data, size_t len)
{
    ssize_t n;

    if (await_answer(channel) < 0)
        return -1;
    do
        n = read(channel->fd, data, len);
    while (n < 0 && errno == EINTR);
    return n;
}

/* If the runtime's caller ignores SIGCHLD, there is nothing to wait for and waitpid fails. */
void channel_end(struct channel *channel)
{
    int saved = errno;

    close(channel->fd);
    while (!channel->silent && waitpid(channel->child, NULL, 0) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

/* ---- descriptors ---- */

union control {
    struct cmsghdr header; /* for alignment */
    char bytes[CMSG_SPACE(sizeof(int))];
};

void channel_send(int fd, const struct channel *channel)
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
    _exit(sendmsg(channel->fd, &message, MSG_NOSIGNAL) < 0 ? 1 : 0);
}

static int receive(struct channel *channel)
{
    int result = EIO, fd = -1;
    union control control = {0};
    struct iovec part = {.iov_base = &result, .iov_len = sizeof(result)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t n;

    if (await_answer(channel) < 0)
        return -1;
    do
        n = recvmsg(channel->fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    if (fd < 0)
        errno = n == (ssize_t)sizeof(result) && result ? result : EIO;
    return fd;
}

int channel_receive(struct channel *channel)
{
    int fd = receive(channel);

    channel_end(channel);
    return fd;
}
