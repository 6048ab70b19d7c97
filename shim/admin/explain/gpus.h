/*
 * The GPUs that a container may use, by its config.json: NVIDIA's device nodes (character devices
 * 195:MINOR; 254 and 255 are no GPUs), MIG instances (/dev/nvidia-caps), and device rules without
 * nodes. In the toolkit's mode "legacy" a hook adds devices later, and config.json has none.
 */
#ifndef SHIM_GPUS_H
#define SHIM_GPUS_H

#include "base/arena.h"
#include "shim/oci/spec.h"

#define GPUS_DRIVER "/proc/driver/nvidia/gpus"

struct gpus {
    const char **list; /* "/dev/nvidia0 (NVIDIA H200)", or a sentence; in the arena */
    size_t count;
};

/* Finds them. `driver` is GPUS_DRIVER, which has the models. Fails only without memory. */
int gpus_find(const struct spec *spec, const char *driver, struct arena *arena, struct gpus *out,
              struct err *err) must_check;

#endif
