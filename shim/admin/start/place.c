#include "shim/admin/start/place.h"

#include "base/files/tree_remove.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define UPPER "upper"
#define WORK  "work"

static int make_directory(const char *path, mode_t mode, struct err *err)
{
    return mkdir(path, mode) < 0 ? err_sys(err, "%s", path) : 0;
}

int place_enter(const char *dir, struct err *err)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_sys(err, "making mounts private");
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return err_sys(err, "mounting /proc");
    if (mount("flatbed-start-time", dir, "tmpfs", 0, "mode=0700") < 0)
        return err_sys(err, "%s: a file system in memory", dir);
    if (chdir(dir) < 0)
        return err_sys(err, "%s", dir);
    return make_directory(START_ROOTFS, 0755, err) < 0 ? -1
                                                       : make_directory(START_STATE, 0700, err);
}

int place_name_layers(const char *key, const char *const *layers, size_t count, struct err *err)
{
    char name[32];

    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%s%zu", key, i);
        if (symlink(layers[i], name) < 0)
            return err_sys(err, "%s", name);
    }
    return 0;
}

int place_mount(const char *key, size_t count, struct err *err)
{
    _cleanup_buf_ struct buf options = BUF_INIT;

    if (make_directory(UPPER, 0755, err) < 0 || make_directory(WORK, 0700, err) < 0)
        return -1;
    buf_puts(&options, "upperdir=" UPPER ",workdir=" WORK ",lowerdir=");
    for (size_t i = 0; i < count; i++)
        buf_printf(&options, "%s%s%zu", i ? ":" : "", key, i);
    if (buf_check(&options, err) < 0)
        return -1;
    if (mount("overlay", START_ROOTFS, "overlay", 0, options.data) < 0)
        return err_sys(err, "an overlay of %zu layers", count);
    return 0;
}

int place_unmount(struct err *err)
{
    if (umount2(START_ROOTFS, MNT_DETACH) < 0)
        return err_sys(err, "unmounting the overlay");
    tree_remove(UPPER);
    tree_remove(WORK);
    return 0;
}
