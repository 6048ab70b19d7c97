/*
 * The locks of engines. Docker keeps volumes/metadata.db locked (bbolt, flock) while it runs, and a
 * daemon that starts waits for it. A containers-storage changes its layers under a write lock
 * (fcntl) of overlay-layers/layers.lock, and is opened under one of storage.lock.
 */
#include "shim/admin/stale/state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

enum { TRIES = 100, PAUSE = 100 * 1000 /* microseconds */ };

/* Returns 0 if Docker runs, or if nothing tells. */
static int lock_docker(int root, int *lock, struct err *err)
{
    *lock = store_open(root, "volumes/metadata.db", O_RDONLY, false);
    if (*lock < 0)
        return errno == ENOENT ? 0 : err_sys(err, "volumes/metadata.db");
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return 1;
    int saved = errno;
    close(*lock);
    *lock = -1;
    errno = saved;
    return errno == EWOULDBLOCK ? 0 : err_sys(err, "volumes/metadata.db");
}

/* Tries for ten seconds: a pull of podman may have it. */
static int lock_file(int root, const char *path, int *lock, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    *lock = store_open(root, path, O_RDWR, false);
    if (*lock < 0)
        return err_sys(err, "its lock %s", path);
    for (int i = 0; i < TRIES; i++) {
        if (fcntl(*lock, F_OFD_SETLK, &whole) == 0)
            return 0;
        if (errno != EAGAIN && errno != EACCES)
            return err_sys(err, "its lock %s", path);
        usleep(PAUSE);
    }
    return err_set(err, ERR_LIMIT, "its lock %s is not free: the engine works", path);
}

int store_lock(const struct layer_store *store, int locks[STORE_LOCKS], struct err *err)
{
    if (store->engine == STALE_DOCKER)
        return lock_docker(store->root, &locks[0], err);
    return lock_file(store->root, "storage.lock", &locks[0], err) < 0 ||
                   lock_file(store->root, "overlay-layers/layers.lock", &locks[1], err) < 0
               ? -1
               : 1;
}
