/*
 * The layer that podman's storage made for a container, from its records of containers: the files
 * containers.json and, for containers that `--rm` removes, volatile-containers.json beside the
 * directories of the containers (containers/storage, containers.go). A container of `--rootfs` is
 * not in them.
 */
#ifndef SHIM_ENGINE_LAYER_H
#define SHIM_ENGINE_LAYER_H

#include "shim/gather/engine/engine.h"

struct engine_layer {
    bool recorded;  /* there are records, so a root of another layer is not the container's */
    const char *id; /* of the layer, in the arena; NULL: the storage has none for the container */
};

/*
 * Finds the layer in the records of the engine, if there are any: CRI-O has none beside its
 * bundles. Fails if a record cannot be read.
 */
int engine_layer_find(const struct engine_directories *engine, struct arena *arena,
                      struct engine_layer *out, struct err *err) must_check;

/* Returns true if a component of the path is the id of the layer. Pure. */
bool engine_layer_has(const struct engine_layer *layer, const char *path) must_check;

#endif
