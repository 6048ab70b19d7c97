/* A store that is open, and what its engine knows of it. */
#ifndef SHIM_STALE_STATE_H
#define SHIM_STALE_STATE_H

#include "base/buf.h"
#include "shim/admin/stale/judge.h"

struct layer_store {
    enum stale_engine engine;
    const char *path; /* of the store, borrowed */
    const char *layers_path;
    int root, layers; /* borrowed: the store, and the directory of its layers */
    bool stateless;   /* the directory of the engine's state is missing */
};

/* Opens a path below a directory. No link is followed. Returns a descriptor, or -1 with errno. */
int store_open(int at, const char *path, int flags, bool one_device);

/* Reads a regular file below a directory. ERR_SYSTEM with ENOENT if it is missing. */
int store_read(int at, const char *path, size_t limit, struct buf *out, struct err *err) must_check;

/*
 * Calls `visit` with each name in a directory, but those that begin with a dot. -1 stops it. An
 * `optional` directory may be missing.
 */
typedef int name_visit(void *context, int dir, const char *name, struct err *err);
int store_each(int at, const char *path, bool optional, name_visit *visit, void *context,
               struct err *err) must_check;

/* Adds the names that Docker's layerdb has. Fails if it cannot be read whole. */
int docker_known(int root, struct known *out, struct err *err) must_check;

/*
 * Adds those of `names` that occur in BuildKit's databases, which have no documented form. Fails if
 * these cannot be read, or change meanwhile.
 */
int buildkit_known(int root, const char *const *names, size_t count, struct known *out,
                   struct err *err) must_check;

/* Adds the names that the lists of a containers-storage have. Fails if one cannot be read. */
int storage_known(int root, struct known *out, struct err *err) must_check;

/* Adds the layers below those that are known, as their files "lower" name them. */
int lowers_known(int layers, struct known *known, struct err *err) must_check;

/*
 * Takes the engine's locks until the descriptors are closed. Returns 1; 0 if the engine may be at
 * work, which is for Docker alone; -1 if the locks cannot be had.
 */
enum { STORE_LOCKS = 2 };
int store_lock(const struct layer_store *store, int locks[STORE_LOCKS], struct err *err) must_check;

/* Removes a directory and all in it, by descriptors. ERR_SYSTEM if something stays. */
int store_remove_tree(int parent, const char *name, struct err *err) must_check;

#endif
