/*
 * Gathers what the policy's "gpus" judges: the nodes that a container has, and the request that
 * NVIDIA's toolkit would fulfil later.
 *
 * config.json has the nodes if NVIDIA's runtime ran before this program in its mode cdi or jit-cdi,
 * or if Docker or podman read CDI specifications. There is only the request if NVIDIA's runtime
 * runs later, or leaves all to its prestart hook (legacy). Any low-level runtime that is not called
 * runc or crun may be such a runtime.
 */
#ifndef SHIM_GPU_FACTS_H
#define SHIM_GPU_FACTS_H

#include "shim/gpu/gpu_nodes.h"
#include "shim/gpu/gpu_request.h"

struct gpu_facts {
    struct gpu_host host;
    struct gpu_nodes nodes;
    bool asked_all;             /* the variable asks for all GPUs, or did before they were given */
    const char *later;          /* the program that fulfils the request after this one, or NULL */
    struct gpu_request request; /* read only if there is one */
};

/* Returns the program that acts on a request after this one, or NULL: a hook, or the low-level
 * runtime. Pure, but for resolving symbolic links of `lowlevel`. */
const char *gpu_facts_later(const struct spec *spec, const char *lowlevel);

/* Finds the names in the line `swarm-resource = "A,B"` of the toolkit's config.toml, in the arena;
 * the list ends with NULL. Returns NULL without memory. Pure. */
const char *const *gpu_facts_swarm(const char *toml, struct arena *arena);

/*
 * Gathers the facts; `lowlevel` is the path of the low-level runtime, or NULL if it is not known,
 * which counts as runc. Everything is in the arena or borrowed. Looks at GPUs only if the container
 * has or asks for some. Fails only without memory.
 */
int gpu_facts_gather(const struct spec *spec, const char *lowlevel, struct arena *arena,
                     struct gpu_facts *out, struct err *err) must_check;

#endif
