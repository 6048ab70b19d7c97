#include "shim/host/fd_path.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int fd_path(int fd, char out[PATH_MAX])
{
    char link[32];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, out, PATH_MAX);
    if (len < 0)
        return -1;
    errno = len == PATH_MAX ? ENAMETOOLONG : ENOENT;
    if (len == PATH_MAX || len == 0 || out[0] != '/')
        return -1;
    out[len] = '\0';
    return 0;
}
