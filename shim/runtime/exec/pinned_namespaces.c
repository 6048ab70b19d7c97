#include "shim/runtime/exec/pinned_namespaces.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum { LOWEST_NUMBER = 100 }; /* beyond inherited_fds_next() */

static const char *const names[] = {
    "cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "time_for_children",
    "user",   "uts",
};
enum { NAMES = sizeof(names) / sizeof(*names) };

/* Opens the namespaces across execve(2). One that the kernel does not have is -1. */
static int open_all(int proc, int mounts, int out[NAMES], struct err *err)
{
    for (size_t i = 0; i < NAMES; i++) {
        _cleanup_free_ char *path = strf("ns/%s", names[i]);
        bool judged = strcmp(names[i], "mnt") == 0;
        if (!path)
            return err_nomem(err);
        _cleanup_fd_ int fd = judged ? -1 : openat(proc, path, O_RDONLY | O_CLOEXEC);
        if (!judged && fd < 0 && errno != ENOENT)
            return err_sys(err, "%s", path);
        out[i] = judged || fd >= 0 ? fcntl(judged ? mounts : fd, F_DUPFD, LOWEST_NUMBER) : -1;
        if (out[i] < 0 && (judged || fd >= 0))
            return err_sys(err, "a descriptor of %s (RLIMIT_NOFILE)", path);
    }
    return 0;
}

static int link_all(const char *directory, const int numbers[NAMES], struct err *err)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (numbers[i] < 0)
            continue;
        _cleanup_free_ char *path = strf("%s/%s", directory, names[i]);
        _cleanup_free_ char *target = strf("/proc/%d/fd/%d", (int)getpid(), numbers[i]);
        if (!path || !target)
            return err_nomem(err);
        if (symlink(target, path) < 0)
            return err_sys(err, "%s", path);
    }
    return 0;
}

int pinned_namespaces_enter(pid_t pid, int proc, int mounts, struct err *err)
{
    _cleanup_free_ char *directory = strf("/proc/%d/ns", (int)pid);
    int numbers[NAMES];

    if (!directory)
        return err_nomem(err);
    if (open_all(proc, mounts, numbers, err) < 0)
        return -1;
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
        mount("flatbed", directory, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0)
        return err_sys(err, "the namespaces of process %d cannot be pinned", (int)pid);
    return link_all(directory, numbers, err);
}
