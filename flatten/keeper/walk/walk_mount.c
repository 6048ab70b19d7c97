#include "flatten/keeper/walk/walk_internal.h"

#include "base/buf.h"
#include "base/fdio.h"
#include "flatten/keeper/files/file_beneath.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

enum {
    OVERLAY_FLAGS = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
    OVERLAY_ATTRIBUTES =
        MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
};

/* Names an open directory for mount(2). */
struct path {
    char text[32];
};

static struct path path_of(int fd)
{
    struct path path;

    snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
    return path;
}

/* Opens the directories of the layers. The caller frees the list. */
static int *open_layers(const struct walk_layers *l, int store, struct err *err)
{
    _cleanup_free_ int *dirs = calloc(l->count, sizeof(*dirs));

    if (!dirs) {
        err_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < l->count; i++) {
        dirs[i] = fd_open_within(store, l->names[i], O_PATH | O_DIRECTORY,
                                 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        if (dirs[i] < 0) {
            err_sys(err, "the layer %s", l->names[i]);
            return NULL;
        }
    }
    return steal_ptr(&dirs);
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

/* Mounts an empty directory over the store. Returns its descriptor. */
static int cover_store(const struct walk_layers *l, int store, struct err *err)
{
    struct path target = path_of(store);

    if (mount("none", target.text, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k") < 0)
        return err_sys(err, "cannot mount a tmpfs");
    return open_cover(l, store, err);
}

static int protect(const char *path, struct err *err)
{
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;

    return mount(NULL, path, NULL, flags, NULL) < 0 ? err_sys(err, "cannot mount read-only") : 0;
}

/* ---- each layer by itself ---- */

static int bind_layer(int dir, const char *target, struct err *err)
{
    if (mkdir(target, 0700) < 0 || mount(path_of(dir).text, target, NULL, MS_BIND, NULL) < 0)
        return err_sys(err, "cannot mount a layer");
    return protect(target, err);
}

/* The directories come newest first, the numbers are from the oldest. */
static int bind_layers(const struct walk_layers *l, const int *dirs, int cover, struct err *err)
{
    for (size_t i = 0; i < l->count; i++) {
        char target[64];
        snprintf(target, sizeof(target), "%s/%zu", path_of(cover).text, l->count - i);
        if (bind_layer(dirs[i], target, err) < 0)
            return -1;
    }
    return protect(path_of(cover).text, err);
}

/* ---- the layers merged ---- */

/* Mounts with one option for all layers, which has to fit a page. Returns 1, 0 if not, or -1. */
static int mount_by_path(const struct buf *layers, int cover, struct err *err)
{
    _cleanup_buf_ struct buf option = BUF_INIT;

    buf_puts(&option, "lowerdir=");
    buf_append(&option, layers->data, layers->len);
    if (buf_check(&option, err) < 0)
        return -1;
    if (option.len >= (size_t)sysconf(_SC_PAGESIZE))
        return 0;
    return mount("none", path_of(cover).text, "overlay", OVERLAY_FLAGS, option.data) < 0
               ? err_sys(err, "cannot mount the layers with overlayfs")
               : 1;
}

/* Mounts with an option for each layer: since Linux 6.8, at most 500 layers. */
static int mount_by_option(struct buf *layers, size_t count, int cover, struct err *err)
{
    _cleanup_fd_ int fs = fsopen("overlay", FSOPEN_CLOEXEC);
    char *rest = layers->data, *path;

    while (fs >= 0 && (path = strsep(&rest, ":")))
        if (fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir+", path, 0) < 0)
            return err_sys(err, "overlayfs of this kernel does not take %zu layers", count);
    if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return err_sys(err, "cannot mount %zu layers with overlayfs", count);
    _cleanup_fd_ int made = fsmount(fs, FSMOUNT_CLOEXEC, OVERLAY_ATTRIBUTES);
    return made < 0 || move_mount(made, "", cover, "",
                                  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0
               ? err_sys(err, "cannot mount %zu layers with overlayfs", count)
               : 0;
}

/*
 * The cover is the oldest layer, an empty one: it changes nothing, but overlayfs wants two layers
 * or more, and hides the whiteouts of one that is above another.
 */
static int mount_layers(const struct walk_layers *l, const int *dirs, int cover, struct err *err)
{
    _cleanup_buf_ struct buf paths = BUF_INIT;

    for (size_t i = 0; i < l->count; i++)
        buf_printf(&paths, "%s:", path_of(dirs[i]).text);
    buf_puts(&paths, path_of(cover).text);
    if (buf_check(&paths, err) < 0)
        return -1;
    int rc = mount_by_path(&paths, cover, err);
    return rc ? rc : mount_by_option(&paths, l->count, cover, err);
}

/* ---- both ---- */

static int enter_mount(const struct walk_layers *l, int store, struct err *err)
{
    long wanted = l->apart ? TMPFS_MAGIC : OVERLAYFS_SUPER_MAGIC;
    int tree = open_cover(l, store, err);
    struct statfs fs;

    if (tree < 0)
        return -1;
    if (fchdir(tree) < 0 || statfs(".", &fs) < 0)
        return err_sys(err, "%s", l->store);
    if (fs.f_type != wanted)
        return err_set(err, ERR_SYSTEM, "%s: the mount of the layers is not there", l->store);
    return chroot(".") < 0 ? err_sys(err, "chroot") : 0;
}

/* The descriptors that the mounts were made of stay open until walk.c closes them. */
int walk_mount(const struct walk_layers *l, struct err *err)
{
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_sys(err, "cannot make a mount namespace");
    int store = store_directory_open(l->store, err);
    _cleanup_free_ int *dirs = store < 0 ? NULL : open_layers(l, store, err);
    int cover = dirs ? cover_store(l, store, err) : -1;
    if (cover < 0)
        return -1;
    int rc = l->apart ? bind_layers(l, dirs, cover, err) : mount_layers(l, dirs, cover, err);
    return rc < 0 ? -1 : enter_mount(l, store, err);
}
