#include "shim/host/users/userns.h"

#include "base/fdio.h"
#include "shim/host/process/channel.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/*
 * Runs in the child, and does not return: joins the namespace, says so, and waits to be looked at.
 * It is not dumpable, so that the owner of the namespace cannot reach into a process of root.
 */
static void join(const char *path, const struct channel *channel)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char byte = 0;

    if (fd < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        setns(fd, CLONE_NEWUSER) < 0 || send(channel->fd, &byte, 1, MSG_NOSIGNAL) != 1)
        _exit(1);
    _exit(read(channel->fd, &byte, 1) < 0 ? 1 : 0);
}

static int read_map(pid_t pid, const char *kind, struct id_map *out, struct err *err)
{
    enum { LARGEST = 64 * 1024 };
    _cleanup_buf_ struct buf text = BUF_INIT;
    char path[48];

    snprintf(path, sizeof(path), "/proc/%d/%s_map", (int)pid, kind);
    if (file_read(AT_FDCWD, path, LARGEST, &text, err) < 0)
        return -1;
    return id_map_parse(text.data ? text.data : "", out, err);
}

int userns_maps(const char *path, struct id_map *uids, struct id_map *gids, struct err *err)
{
    struct channel channel;
    char byte;
    pid_t pid = channel_fork(&channel);

    if (pid == 0)
        join(path, &channel);
    if (pid < 0)
        return err_sys(err, "fork");
    int rc = channel_read(&channel, &byte, 1) == 1
                 ? 0
                 : err_set(err, ERR_UNSUPPORTED, "%s cannot be joined", path);
    if (rc == 0 && (read_map(pid, "uid", uids, err) < 0 || read_map(pid, "gid", gids, err) < 0))
        rc = -1;
    channel_end(&channel);
    return rc;
}
