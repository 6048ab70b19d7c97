#include "shim/prepare/pool.h"

#include "shim/host/trust.h"
#include "shim/mount/overlay.h"

#include <fcntl.h>
#include <sys/mount.h>

static int check_shared(const char *path, struct err *err)
{
    _cleanup_source_ struct source pool = SOURCE_INIT;

    if (source_find(path, &pool, err) < 0)
        return -1;
    if (pool.missing || !pool.directory)
        return err_set(err, ERR_POLICY, "the pool %s %s", path,
                       pool.missing ? "does not exist" : "is not a directory");
    if (pool.exposed)
        return err_set(err, ERR_POLICY, "the pool %s could be replaced by users other than root",
                       path);
    return 0;
}

int pool_check(const char *pool, const struct source *source, struct err *err)
{
    struct stat st;

    if (trust_rootless())
        return err_set(err, ERR_UNSUPPORTED, "a rootless runtime cannot mount a pool");
    if (check_shared(pool, err) < 0)
        return -1;
    if (source->missing)
        return 0;
    if (fstat(source->fd, &st) < 0)
        return err_sys(err, "fstat");
    if (!source->directory || !trust_closed(&st))
        return err_set(
            err, ERR_POLICY,
            "the private side of a pool must be a directory that is owned by root and not "
            "writable by others; 'upper' in it belongs to the user");
    return 0;
}

int pool_prepare(const char *pool, const struct source *source, const struct source_make *make,
                 struct err *err)
{
    const struct source_make work = {.who = {.uid = geteuid(), .gid = getegid()}, .mode = 0700};

    if (pool_check(pool, source, err) < 0 ||
        source_make_directory(source->fd, OVERLAY_UPPER, make, err) < 0)
        return -1;
    return source_make_directory(source->fd, OVERLAY_WORK, &work, err);
}

static bool set_directory(int context, const char *key, int fd, const char *sub)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d%s%s", fd, *sub ? "/" : "", sub);
    return fsconfig(context, FSCONFIG_SET_STRING, key, path, 0) == 0;
}

/* Asks the kernel for such an overlay, which is mounted nowhere, and gone with its descriptor. */
bool pool_busy(const char *pool, const struct source *source)
{
    _cleanup_fd_ int context = fsopen("overlay", FSOPEN_CLOEXEC);
    _cleanup_fd_ int lower = open(pool, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (context < 0 || lower < 0 || !set_directory(context, "lowerdir", lower, "") ||
        !set_directory(context, "upperdir", source->fd, OVERLAY_UPPER) ||
        !set_directory(context, "workdir", source->fd, OVERLAY_WORK) ||
        fsconfig(context, FSCONFIG_SET_STRING, "index", "on", 0) < 0)
        return false;
    return fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 && errno == EBUSY;
}
