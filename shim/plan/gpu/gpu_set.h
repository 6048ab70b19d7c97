/*
 * The GPUs that a container would have, as the policy counts them: each whole GPU and each MIG
 * device once. Pure.
 */
#ifndef SHIM_GPU_SET_H
#define SHIM_GPU_SET_H

#include "shim/gpu/gpu_facts.h"
#include "shim/gpu/gpu_host.h"
#include "shim/policy/policy.h"

/* A GPU or a MIG device. */
struct gpu_unit {
    bool mig;
    int64_t index;    /* of the GPU; -1: not known */
    const char *uuid; /* of the GPU; "": not known */
    const char *name; /* by which it was asked for, or for messages */
};

struct gpu_set {
    struct gpu_unit *list;
    size_t count;
    bool manages; /* it may change MIG devices, or watch all of them */
};

/* Fills in the set of a container's nodes, in the arena. Fails only without memory. */
int gpu_set_of_nodes(const struct gpu_facts *facts, struct arena *arena, struct gpu_set *out,
                     struct err *err) must_check;

/* Adds a name, unless the set has that GPU. Fails only without memory. */
int gpu_set_add_name(const struct gpu_host *host, const struct gpu_name *name, struct arena *arena,
                     struct gpu_set *set, struct err *err) must_check;

/* Returns the first unit that is not one of `devices`, or NULL. */
const struct gpu_unit *gpu_set_stranger(const struct gpu_set *set,
                                        const struct policy_list *devices);

/* Appends "0, 1, MIG-…". */
void gpu_set_print(const struct gpu_set *set, struct buf *out);

#endif
