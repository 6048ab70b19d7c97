/*
 * The request of a container to NVIDIA's toolkit, for the case that the toolkit runs after this
 * program. Observed with toolkit 1.17.8 and 1.19.1:
 *
 * - NVIDIA_VISIBLE_DEVICES: a list of names. The last value in process.env counts. An image can set
 *   it, and images of CUDA do: "all".
 * - CUDA_VERSION without NVIDIA_VISIBLE_DEVICES and NVIDIA_REQUIRE_CUDA: an old image of CUDA,
 * which gets all GPUs.
 * - A mount on /var/run/nvidia-container-devices/NAME or .../cdi/VENDOR/CLASS/NAME.
 * - An annotation cdi.k8s.io/KEY: a list of "VENDOR/CLASS=NAME".
 * - NVIDIA_MIG_CONFIG_DEVICES, NVIDIA_MIG_MONITOR_DEVICES, NVIDIA_IMEX_CHANNELS, NVIDIA_GDS,
 *   NVIDIA_MOFED, NVIDIA_GDRCOPY, NVIDIA_NVSWITCH: devices that are no GPUs.
 *
 * The toolkit's version and mode decide which of them count, so all of them are read. Pure.
 */
#ifndef SHIM_GPU_REQUEST_H
#define SHIM_GPU_REQUEST_H

#include "shim/gpu/gpu_name.h"
#include "shim/oci/spec.h"

extern const char gpu_variable[]; /* "NVIDIA_VISIBLE_DEVICES" */

enum { GPU_WISHES = 512 };

/* One name in a request. */
struct gpu_wish {
    struct gpu_name name;
    const char *carrier; /* variable, mount or annotation, for messages */
    bool variable;       /* of NVIDIA_VISIBLE_DEVICES, or of an old image: perhaps nobody's wish */
};

struct gpu_request {
    struct gpu_wish *list;
    size_t count;
    bool too_many;    /* there are more than GPU_WISHES */
    const char *more; /* the variable or mount that asks for other devices, or NULL */
};

/*
 * Reads all carriers. `variables` (ends with NULL) are further ones that the toolkit's
 * swarm-resource names. Texts are in the arena or borrowed. Fails only without memory.
 */
int gpu_request_read(const struct spec *spec, const char *const *variables, struct arena *arena,
                     struct gpu_request *out, struct err *err) must_check;

/*
 * Returns true if the variable asks for all GPUs, apart from a last value "void", which the toolkit
 * adds when it has done its work.
 */
bool gpu_request_asked_all(const struct spec *spec);

/* Sets the variable in process.env to that one value. */
void gpu_request_rewrite(const struct spec *spec, struct json_doc *doc, const char *value);

#endif
