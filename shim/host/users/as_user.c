#include "shim/host/users/as_user.h"

#include "base/cleanup.h"
#include "base/fdio.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Takes on the ids, in the child. The signal comes last: a change of ids clears it. */
static void become_user(const struct user_ids *ids)
{
    if (setgroups(ids->group_count, ids->groups) < 0 ||
        setresgid(ids->gid, ids->gid, ids->gid) < 0 ||
        setresuid(ids->uid, ids->uid, ids->uid) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        _exit(1);
}

pid_t as_user_fork(const struct user_ids *ids, struct channel *channel)
{
    pid_t pid = channel_fork(channel);

    if (pid == 0)
        become_user(ids);
    return pid;
}

/* ---- a descriptor ---- */

int as_user_open(const struct user_ids *ids, int dirfd, const char *name)
{
    struct channel channel;
    pid_t pid = as_user_fork(ids, &channel);

    if (pid == 0)
        channel_send(openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), &channel);
    return pid < 0 ? -1 : channel_receive(&channel);
}

static int enter(int dirfd, const char *path, uint64_t resolve)
{
    int fd = fd_open_within(dirfd, path, O_PATH | O_DIRECTORY, resolve);

    return fd >= 0 && faccessat(fd, "", X_OK, AT_EACCESS | AT_EMPTY_PATH) == 0 ? fd : -1;
}

int as_user_enter(const struct user_ids *ids, int dirfd, const char *path, uint64_t resolve)
{
    struct channel channel;
    pid_t pid = as_user_fork(ids, &channel);

    if (pid == 0)
        channel_send(enter(dirfd, path, resolve), &channel);
    return pid < 0 ? -1 : channel_receive(&channel);
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
    struct channel channel;
    pid_t pid = as_user_fork(ids, &channel);

    if (pid < 0)
        return USER_CLOSED;
    if (pid == 0) {
        reach = (unsigned char)try_path(dir, path);
        _exit(write(channel.fd, &reach, 1) != 1);
    }
    if (channel_read(&channel, &reach, 1) != 1)
        reach = USER_CLOSED;
    channel_end(&channel);
    return (enum user_reach)reach;
}
