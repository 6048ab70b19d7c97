#include "shim/pool.h"

#include "shim/overlay.h"
#include "shim/trust.h"

static int check_shared(const char *path, struct err *err)
{
    _cleanup_source_ struct source pool = SOURCE_INIT;

    if (source_find(path, &pool, err) < 0)
        return -1;
    if (pool.missing || !pool.directory)
        return err_set(err, ERR_POLICY, "the pool %s %s", path,
                       pool.missing ? "does not exist" : "is not a directory");
    if (pool.exposed)
        return err_set(err, ERR_POLICY, "the pool %s could be replaced by others than root", path);
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
        return err_set(err, ERR_POLICY,
                       "the private side of a pool must be a folder of root's that nobody else may "
                       "write to; 'upper' in it is the user's");
    return 0;
}

int pool_prepare(const char *pool, const struct source *source, const struct source_make *make,
                 struct err *err)
{
    const struct source_make work = {.who = {.uid = geteuid(), .gid = getegid()}, .mode = 0700};

    if (pool_check(pool, source, err) < 0 ||
        source_make_folder(source->fd, OVERLAY_UPPER, make, err) < 0)
        return -1;
    return source_make_folder(source->fd, OVERLAY_WORK, &work, err);
}
