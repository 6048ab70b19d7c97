#include "flatten/keeper/podman/podman.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* True if nobody listens there. A socket that the user must not open is a daemon. */
static bool nobody_listens(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    _cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return false;
    return errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED;
}

static bool in_path(const char *program)
{
    const char *path = getenv("PATH");

    while (path && *path) {
        size_t len = strcspn(path, ":");
        _cleanup_free_ char *file = strf("%.*s/%s", (int)len, path, program);
        if (len && file && access(file, X_OK) == 0)
            return true;
        path += len + (path[len] == ':');
    }
    return false;
}

bool podman_is_default(void)
{
    const char *host = getenv("DOCKER_HOST");

    return !(host && *host) && nobody_listens("/var/run/docker.sock") && in_path("podman");
}
