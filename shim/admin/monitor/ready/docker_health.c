#include "shim/admin/monitor/ready/docker_health.h"

#include "base/fdio.h"
#include "base/hex.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

enum { ID_DIGITS = 64, ANSWER_BYTES = 1024 * 1024, ANSWER_SECONDS = 2 };

/* Returns the path of the daemon's socket; NULL for a daemon elsewhere. */
static const char *socket_path(void)
{
    static const char scheme[] = "unix://";
    const char *host = getenv("DOCKER_HOST");

    if (!host || !*host)
        return "/run/docker.sock";
    return strncmp(host, scheme, sizeof(scheme) - 1) == 0 ? host + sizeof(scheme) - 1 : NULL;
}

static int connect_daemon(void)
{
    static const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = socket_path();

    if (!path || strlen(path) >= sizeof(address.sun_path))
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    _cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return -1;
    return steal_fd(&fd);
}

/* Parses the body of an answer with the status 200. By HTTP/1.0, it ends with the connection. */
static struct json_doc *read_answer(const struct buf *answer)
{
    static const struct json_options options = {.max_bytes = ANSWER_BYTES};
    static const char status[] = "HTTP/1.0 200 ", end[] = "\r\n\r\n";
    const char *body = answer->len ? memmem(answer->data, answer->len, end, strlen(end)) : NULL;
    struct err ignored;

    if (!body || strncmp(answer->data, status, strlen(status)) != 0)
        return NULL;
    body += strlen(end);
    return json_parse(body, answer->len - (size_t)(body - answer->data), &options, &ignored);
}

struct json_doc *docker_health_ask(const char *id)
{
    _cleanup_buf_ struct buf request = BUF_INIT, answer = BUF_INIT;
    _cleanup_fd_ int fd = hex_is(id, ID_DIGITS) ? connect_daemon() : -1;
    struct err ignored;

    buf_printf(&request, "GET /containers/%s/json HTTP/1.0\r\nHost: docker\r\n\r\n", id);
    if (fd < 0 || buf_check(&request, &ignored) < 0 ||
        send(fd, request.data, request.len, MSG_NOSIGNAL) != (ssize_t)request.len ||
        fd_read_all(fd, ANSWER_BYTES, &answer, &ignored) < 0)
        return NULL;
    return read_answer(&answer);
}
