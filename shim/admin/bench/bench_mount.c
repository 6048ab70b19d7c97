#include "shim/admin/bench/bench_internal.h"

#include "base/fdio.h"
#include "base/files/tree_remove.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

double bench_cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int put_file(const char *path, const char *text, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || fd_write_all(fd, text, strlen(text), err) < 0)
        return err_sys(err, "%s", path);
    return 0;
}

/* Moves to a user namespace in which this user is root (user_namespaces(7)). */
static int become_root(struct err *err)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    char map[64];

    if (unshare(CLONE_NEWUSER) < 0)
        return err_sys(err, "not root, and no user namespace is to be had");
    if (put_file("/proc/self/setgroups", "deny", err) < 0)
        return -1;
    snprintf(map, sizeof(map), "0 %u 1", uid);
    if (put_file("/proc/self/uid_map", map, err) < 0)
        return -1;
    snprintf(map, sizeof(map), "0 %u 1", gid);
    return put_file("/proc/self/gid_map", map, err);
}

int bench_isolate(struct err *err)
{
    if (geteuid() != 0 && become_root(err) < 0)
        return -1;
    if (unshare(CLONE_NEWNS) < 0)
        return err_sys(err, "a mount namespace");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_sys(err, "making mounts private");
    return 0;
}

static int mount_overlay(unsigned long flags, const char *options, struct err *err)
{
    if (mount("overlay", BENCH_MOUNTPOINT, "overlay", flags, options) == 0)
        return 0;
    return err_set(err, ERR_UNSUPPORTED,
                   "overlay cannot be mounted here (%s): the kernel or the file system does not "
                   "allow it; --dir names another place",
                   strerror(errno));
}

static int bind(const char *what, struct err *err)
{
    if (mount(what, BENCH_MOUNTPOINT, NULL, MS_BIND, NULL) < 0)
        return err_sys(err, "a bind mount");
    return 0;
}

int bench_mount(unsigned layers, struct err *err)
{
    _cleanup_buf_ struct buf options = BUF_INIT;

    if (layers == 0)
        return bind("0", err);
    buf_puts(&options, "lowerdir=");
    for (unsigned layer = layers; layer-- > 0;)
        buf_printf(&options, "%u:", layer);
    buf_puts(&options, "none");
    return buf_check(&options, err) < 0 ? -1 : mount_overlay(MS_RDONLY, options.data, err);
}

int bench_mount_large(bool overlay, struct err *err)
{
    struct err ignored = ERR_INIT;

    if (!overlay)
        return bind("large", err);
    tree_remove("upper");
    tree_remove("work");
    if (mkdir("upper", 0755) < 0 || mkdir("work", 0755) < 0)
        return err_sys(err, "an upper layer");
    /* An overlay in a user namespace may only use the attributes "user.*". */
    if (mount_overlay(0, "lowerdir=large,upperdir=upper,workdir=work", &ignored) == 0)
        return 0;
    return mount_overlay(0, "lowerdir=large,upperdir=upper,workdir=work,userxattr", err);
}

int bench_unmount(struct err *err)
{
    if (umount2(BENCH_MOUNTPOINT, 0) < 0)
        return err_sys(err, "unmounting");
    return 0;
}
