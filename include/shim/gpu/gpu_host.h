/*
 * NVIDIA's GPUs on this host, as the kernel's driver shows them.
 *
 * A GPU has two numbers: its index, which nvidia-smi and requests use (GPUs in the order of their
 * PCI addresses), and the minor number of its node /dev/nvidiaN. Mostly they are the same. Nodes:
 *
 *     195:0 … 195:253      a GPU /proc/driver/nvidia/gpus/ADDRESS/information 195:254, 195:255
 * nvidia-modeset, nvidiactl: for every container that has a GPU nvidia-uvm:N         likewise; the
 * major number is in /proc/devices nvidia-caps:N        the right to use a MIG device, or to manage
 * all of them /proc/driver/nvidia/capabilities/gpuMINOR/mig/giN/{access,ciN/access}
 *
 * A MIG device is a compute instance (ci) in a GPU instance (gi), and needs both rights.
 */
#ifndef SHIM_GPU_HOST_H
#define SHIM_GPU_HOST_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { GPU_MAJOR = 195, GPU_MINOR_MOST = 253 };

/* A GPU. Its index is its place in the list. */
struct gpu_card {
    unsigned minor;
    const char *uuid;    /* "GPU-…"; "" if it is not known */
    const char *address; /* on the PCI bus */
};

enum gpu_right_kind {
    GPU_RIGHT_INSTANCE, /* a GPU instance */
    GPU_RIGHT_COMPUTE,  /* a compute instance: a MIG device */
    GPU_RIGHT_MANAGE,   /* to make, remove or watch all MIG devices */
};

/* A node of nvidia-caps. */
struct gpu_right {
    enum gpu_right_kind kind;
    unsigned minor; /* of the node */
    unsigned card;  /* the minor number of its GPU; not for GPU_RIGHT_MANAGE */
};

struct gpu_host {
    int64_t uvm, caps; /* major numbers; -1: this kernel has none */
    struct gpu_card *cards;
    size_t card_count; /* 0: the driver is not loaded, or was not asked */
    struct gpu_right *rights;
    size_t right_count;
};

#define GPU_HOST_INIT                                                                              \
    {                                                                                              \
        .uvm = -1, .caps = -1                                                                      \
    }

/* Reads the major numbers from the text of /proc/devices. Pure. */
void gpu_host_parse_majors(const char *text, struct gpu_host *host);

/* Reads UUID and minor number from a GPU's file `information`. False if the minor is missing. Pure.
 */
bool gpu_host_parse_card(const char *text, struct arena *arena, struct gpu_card *out);

/* Reads the major numbers of this host. Fails only without memory. */
int gpu_host_read_majors(struct gpu_host *host, struct err *err) must_check;

/* Reads GPUs and MIG devices of this host, into the arena. Fails only without memory. */
int gpu_host_read_cards(struct arena *arena, struct gpu_host *host, struct err *err) must_check;

/*
 * Returns true for the nodes of NVIDIA's driver that the policy's "gpus" judges: GPUs, the nodes
 * that go with them, MIG devices. `minor` may be -1, which means all. Pure.
 */
bool gpu_host_owns(const struct gpu_host *host, bool block, int64_t major);

/* Returns the GPU with that minor number, or NULL. Pure. */
const struct gpu_card *gpu_host_card(const struct gpu_host *host, unsigned minor);

/* Returns the right of that node of nvidia-caps, or NULL. Pure. */
const struct gpu_right *gpu_host_right(const struct gpu_host *host, unsigned minor);

/*
 * Returns the index of the GPU with that minor number. Without a loaded driver the index is taken
 * to be the minor number; -1 if the driver has no such GPU. Pure.
 */
int64_t gpu_host_index(const struct gpu_host *host, unsigned minor);

/*
 * Returns the GPU whose UUID begins with `text`, without regard to case, as libnvidia-container
 * compares them; NULL if none or several do. Pure.
 */
const struct gpu_card *gpu_host_by_uuid(const struct gpu_host *host, const char *text);

#endif
