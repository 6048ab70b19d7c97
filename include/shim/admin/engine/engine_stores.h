/* Where the engines of this host keep images and containers, by their configurations in /etc. */
#ifndef SHIM_ENGINE_STORES_H
#define SHIM_ENGINE_STORES_H

#include "base/arena.h"

/*
 * These return a directory, in the arena or static: Docker's data-root, containerd's root and the
 * graphroot of root's podman. A configuration that cannot be read has the default.
 */
const char *engine_docker_root(struct arena *arena);
const char *engine_containerd_root(struct arena *arena);
const char *engine_podman_root(struct arena *arena);

#endif
