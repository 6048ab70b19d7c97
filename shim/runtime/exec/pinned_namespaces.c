#include "shim/runtime/exec/pinned_namespaces.h"

#include "shim/host/mount_namespace.h"
#include "shim/privilege/syscall_filter.h"
#include "shim/runtime/exec/container.h"

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

static int pin(const struct container *c, struct err *err)
{
    _cleanup_free_ char *directory = strf("/proc/%d/ns", (int)c->process.pid);
    int numbers[NAMES];

    if (!directory)
        return err_nomem(err);
    if (open_all(c->proc, c->mounts, numbers, err) < 0)
        return -1;
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
        mount("flatbed", directory, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0)
        return err_sys(err, "the container's namespaces cannot be pinned");
    return link_all(directory, numbers, err);
}

int pinned_namespaces_keep(const struct spec *spec, struct json_doc *state, struct err *err)
{
    struct json *rules = json_get(json_root(state), "rules");

    if (!rules || spec->uid_map.count || spec->joins_user_namespace ||
        !syscall_filter_makes_namespaces(json_path(spec->root, "linux", "seccomp", NULL)))
        return 0;
    json_set(state, rules, "namespaces", json_bool(state, true));
    return json_failed(state) ? err_nomem(err) : 0;
}

int pinned_namespaces_hold(const struct json *rules, const struct call *call, struct err *err)
{
    _cleanup_container_ struct container c = CONTAINER_INIT;

    if (!json_get(rules, "namespaces"))
        return 0;
    if (container_open(call, &c, err) < 0)
        return -1;
    if (!mount_namespace_is_ours(c.mounts))
        return err_set(err, ERR_POLICY,
                       "the container's first process has made a mount namespace of its own, which "
                       "the runtime would enter as root: there is no exec in it");
    return pin(&c, err);
}
