/*
 * The layer that podman's storage made for a container, from its records of containers: the files
 * containers.json and, for containers that `--rm` removes, volatile-containers.json beside the
 * directories of the containers (containers/storage, containers.go). A container of `--rootfs` is
 * not in them.
 */
#ifndef SHIM_ENGINE_LAYER_H
#define SHIM_ENGINE_LAYER_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct engine_layer {
    bool recorded;  /* the bundle is podman's, so a root of another layer is not the container's */
    const char *id; /* of the layer, in the arena; NULL: the storage has none for the container */
};

/*
 * Finds the layer of the container whose bundle is GRAPHROOT/DRIVER-containers/ID/userdata; other
 * bundles, and those of CRI-O, have no records. Fails if a record cannot be read.
 */
int engine_layer_find(const char *bundle, struct arena *arena, struct engine_layer *out,
                      struct err *err) must_check;

/* Returns true if a component of the path is the id of the layer. Pure. */
bool engine_layer_has(const struct engine_layer *layer, const char *path) must_check;

#endif
