#include "flatten/wire/wire.h"

#include "flatten/stream/interrupt.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

union control {
    struct cmsghdr header; /* for its alignment */
    char room[CMSG_SPACE(sizeof(int))];
};

int wire_pair(int out[2], struct err *err)
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) < 0 ? err_sys(err, "socketpair")
                                                                       : 0;
}

static void attach_fd(struct msghdr *m, union control *control, int fd)
{
    *control = (union control){.header = {0}};
    m->msg_control = control;
    m->msg_controllen = sizeof(control->room);
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
}

static int send_all(int socket, const void *data, size_t len, int fd, struct err *err)
{
    const char *at = data;
    union control control;

    while (len > 0) {
        struct iovec part = {(void *)(uintptr_t)at, len};
        struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
        if (fd >= 0)
            attach_fd(&m, &control, fd);
        ssize_t n = sendmsg(socket, &m, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR && !interrupted())
            continue;
        if (n < 0)
            return interrupt_check(err) < 0 ? -1 : err_sys(err, "cannot send");
        fd = -1; /* the descriptor goes with the first byte */
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int wire_send(int socket, const struct buf *message, int fd, struct err *err)
{
    uint32_t len = (uint32_t)message->len;

    if (buf_check(message, err) < 0)
        return -1;
    if (message->len > WIRE_MOST_MESSAGE)
        return err_set(err, ERR_LIMIT, "a message of %zu bytes", message->len);
    if (send_all(socket, &len, sizeof(len), fd, err) < 0)
        return -1;
    return send_all(socket, message->data, message->len, -1, err);
}

/* Takes the descriptor that came with the bytes. Without `fd` there was no room for one. */
static int take_fd(struct msghdr *m, int *fd, struct err *err)
{
    for (struct cmsghdr *c = fd ? CMSG_FIRSTHDR(m) : NULL; c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
            c->cmsg_len != CMSG_LEN(sizeof(int)) || *fd >= 0)
            return err_set(err, ERR_FORMAT, "a malformed message");
        memcpy(fd, CMSG_DATA(c), sizeof(*fd));
    }
    if (m->msg_flags & MSG_CTRUNC)
        return err_set(err, ERR_FORMAT, "descriptors where none belong");
    return 0;
}

/*
 * Waits until there is something to read. A signal may come just before poll(2), so no call of it
 * blocks for long.
 */
static int wait_readable(int socket, struct err *err)
{
    enum { STEP_MS = 500 };
    struct pollfd p = {.fd = socket, .events = POLLIN};
    int n;

    do {
        if (interrupt_check(err) < 0)
            return -1;
        n = poll(&p, 1, STEP_MS);
    } while (n == 0 || (n < 0 && errno == EINTR));
    return n < 0 ? err_sys(err, "poll") : 0;
}

/* Returns 1, 0 at the end of the stream, or -1. */
static int receive_all(int socket, void *data, size_t len, int *fd, struct err *err)
{
    union control control;

    for (size_t done = 0; done < len;) {
        struct iovec part = {(char *)data + done, len - done};
        struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
        if (fd) {
            m.msg_control = &control;
            m.msg_controllen = sizeof(control.room);
        }
        if (wait_readable(socket, err) < 0)
            return -1;
        ssize_t n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            return 0;
        if (n < 0)
            return err_sys(err, "cannot receive");
        if (take_fd(&m, fd, err) < 0)
            return -1;
        done += (size_t)n;
    }
    return 1;
}

static int receive_message(int socket, struct buf *out, int *fd, struct err *err)
{
    uint32_t len;
    int rc = receive_all(socket, &len, sizeof(len), fd, err);

    if (rc <= 0)
        return rc;
    if (len > WIRE_MOST_MESSAGE)
        return err_set(err, ERR_LIMIT, "a message of %u bytes", len);
    char *room = buf_reserve(out, len);
    if (!room)
        return err_nomem(err);
    rc = receive_all(socket, room, len, NULL, err);
    if (rc > 0)
        out->len += len;
    return rc;
}

int wire_receive(int socket, struct buf *out, int *fd, struct err *err)
{
    if (fd)
        *fd = -1;
    int rc = receive_message(socket, out, fd, err);
    if (rc <= 0 && fd) {
        cleanup_fd(fd);
        *fd = -1;
    }
    return rc;
}
