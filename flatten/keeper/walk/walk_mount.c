#include "flatten/keeper/walk/walk_internal.h"

#include "base/buf.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* Opens the store. Only root may have put directories there: the daemon at the socket may be
 * anyone's. */
static int open_store(const char *path, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "%s", path);
    if (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
        return err_set(err, ERR_UNSUPPORTED, "%s is not owned by root, or others may write to it",
                       path);
    return steal_fd(&fd);
}

/* Appends the path of the layer's directory, by the descriptor that is kept open for it. */
static int add_layer(int store, const char *name, struct buf *out, struct err *err)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, store, name, &how, sizeof(how));

    if (fd < 0)
        return err_sys(err, "the layer %s", name);
    buf_printf(out, "/proc/self/fd/%d:", fd);
    return 0;
}

/*
 * Opens the mount that covers the store, on the way back from a directory in it: the path of the
 * store may lead elsewhere by now, as users may have made its symbolic links.
 */
static int open_cover(const struct walk_layers *l, int store, struct err *err)
{
    const char *name = l->names[0];
    _cleanup_free_ char *back = strf("%.*s/..", (int)strcspn(name, "/"), name);

    if (!back)
        return err_nomem(err);
    int fd = openat(store, back, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? err_sys(err, "%s", l->store) : fd;
}

/*
 * Mounts an empty directory over the store and appends its path. As the oldest layer it changes
 * nothing, but overlayfs wants two layers or more, and hides the whiteouts of one that is above
 * another. Returns its descriptor.
 */
static int add_empty(const struct walk_layers *l, int store, struct buf *out, struct err *err)
{
    char target[32];

    snprintf(target, sizeof(target), "/proc/self/fd/%d", store);
    if (mount("none", target, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k") < 0)
        return err_sys(err, "cannot mount a tmpfs");
    int fd = open_cover(l, store, err);
    if (fd < 0)
        return -1;
    buf_printf(out, "/proc/self/fd/%d", fd);
    return buf_check(out, err) < 0 ? -1 : fd;
}

static int mount_layers(const struct walk_layers *l, int store, struct err *err)
{
    _cleanup_buf_ struct buf options = BUF_INIT;
    char target[32];

    buf_puts(&options, "lowerdir=");
    for (size_t i = 0; i < l->count; i++)
        if (add_layer(store, l->names[i], &options, err) < 0)
            return -1;
    int empty = add_empty(l, store, &options, err);
    if (empty < 0)
        return -1;
    if (options.len >= (size_t)sysconf(_SC_PAGESIZE))
        return err_set(err, ERR_LIMIT, "%zu layers are too many for one mount", l->count);
    snprintf(target, sizeof(target), "/proc/self/fd/%d", empty);
    if (mount("none", target, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              options.data) < 0)
        return err_sys(err, "cannot mount the layers with overlayfs");
    return 0;
}

/* The descriptors that the mount was made of stay open until walk.c closes them. */
int walk_mount(const struct walk_layers *layers, struct err *err)
{
    struct statfs fs;
    int store, tree;

    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_sys(err, "cannot make a mount namespace");
    if ((store = open_store(layers->store, err)) < 0 || mount_layers(layers, store, err) < 0 ||
        (tree = open_cover(layers, store, err)) < 0)
        return -1;
    if (fchdir(tree) < 0 || statfs(".", &fs) < 0)
        return err_sys(err, "%s", layers->store);
    if (fs.f_type != OVERLAYFS_SUPER_MAGIC)
        return err_set(err, ERR_SYSTEM, "%s: the mount of the layers is not there", layers->store);
    return chroot(".") < 0 ? err_sys(err, "chroot") : 0;
}
