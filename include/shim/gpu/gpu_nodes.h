/*
 * The nodes of NVIDIA's driver that config.json gives to a container: by linux.devices, and by the
 * rules of linux.resources.devices, which let it make nodes of its own. Pure.
 */
#ifndef SHIM_GPU_NODES_H
#define SHIM_GPU_NODES_H

#include "shim/gpu/gpu_host.h"
#include "shim/oci/spec.h"

struct gpu_nodes {
    const char *all;          /* the reason why it could use all GPUs of this host, or NULL */
    bool used;                /* it has at least one node of the driver */
    unsigned *cards, *rights; /* minor numbers: of GPUs, and of nvidia-caps; each once */
    size_t card_count, right_count;
};

/* Finds the nodes; lists are in the arena. Fails only without memory. */
int gpu_nodes_find(const struct spec *spec, const struct gpu_host *host, struct arena *arena,
                   struct gpu_nodes *out, struct err *err) must_check;

/* Adds one node, if it is of the driver; minor -1 means all. Fails only without memory. */
int gpu_nodes_add(struct gpu_nodes *nodes, const struct gpu_host *host, int64_t major,
                  int64_t minor, struct arena *arena, struct err *err) must_check;

/*
 * Takes the GPUs out of a document, with their rules, but for those with the minor numbers `keep`.
 * Takes out all other nodes of the driver as well if none is kept.
 */
void gpu_nodes_strip(const struct spec *spec, const struct gpu_host *host, const unsigned *keep,
                     size_t keep_count);

#endif
