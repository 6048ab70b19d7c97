/* The directories of the engines' images and containers on this host, by their configurations. */
#ifndef SHIM_ENGINE_STORES_H
#define SHIM_ENGINE_STORES_H

#include "base/arena.h"
#include "base/err.h"

/* The patience with a directory of a store, in milliseconds (source_answers). */
enum { ENGINE_STORE_WAIT = 5000 };

/*
 * These return a directory, in the arena or static: Docker's data-root, containerd's root and the
 * graphroot of root's podman. A configuration that cannot be read has the default.
 */
const char *engine_docker_root(struct arena *arena);
const char *engine_containerd_root(struct arena *arena);
const char *engine_podman_root(struct arena *arena);

/* Returns where rootless podman has its storage, with $HOME, $USER and $UID in it; NULL: below
 * ~/.local/share. */
const char *engine_podman_users_root(struct arena *arena);

/*
 * Returns the addresses at which a containerd may listen by the configurations of containerd and
 * Docker, in the arena; NULL is the last. NULL without memory.
 */
const char *const *engine_containerd_sockets(struct arena *arena);

/* Takes the directory of a store, which may be missing. Returns -1 to end the walk. */
typedef int engine_visit_store(void *ctx, const char *path, struct err *err);

/*
 * Visits the stores of Docker and podman on this host: those of root, and for a user the user's
 * own. With userns-remap Docker has one in each DATA-ROOT/UID.GID, too; a data-root that does not
 * answer is not searched for them. Fails with the visit, or without memory.
 */
int engine_each_store(engine_visit_store *visit, void *ctx, struct err *err) must_check;

#endif
