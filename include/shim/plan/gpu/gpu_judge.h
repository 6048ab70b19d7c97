/*
 * Judges the GPUs of a container by the policy's "gpus". Pure.
 *
 * Nodes in config.json are judged first: each GPU, or MIG device, must be one of `devices`, and
 * there must be at most `max`. A request that a program after this one would fulfil is judged by
 * its names, all carriers together; a name that cannot be understood is denied. A request for all
 * GPUs in NVIDIA_VISIBLE_DEVICES may come from the image: where "all" is denied, the container gets
 * `default` instead. Without `max`, where "all" is denied, to have each of several GPUs of a host
 * is denied as well.
 */
#ifndef SHIM_GPU_JUDGE_H
#define SHIM_GPU_JUDGE_H

#include "shim/gpu/gpu_facts.h"
#include "shim/policy/policy.h"

enum gpu_outcome {
    GPU_NOTHING,   /* the container has no GPU, and asks for none */
    GPU_ALLOWED,   /* with `reason` */
    GPU_REWRITTEN, /* the variable becomes `value` */
    GPU_STRIPPED,  /* nodes are taken out, but for `keep` */
    GPU_DENIED,
};

struct gpu_ruling {
    enum gpu_outcome outcome;
    const char *key;    /* of the policy: "gpus.max" … */
    const char *reason; /* in the arena; never NULL unless the outcome is GPU_NOTHING */
    const struct policy_place *place;
    const char *value;    /* GPU_REWRITTEN */
    const unsigned *keep; /* GPU_STRIPPED: minor numbers */
    size_t keep_count;
};

/* Judges; everything is in the arena or borrowed. Fails only without memory. */
int gpu_judge(const struct policy_gpus *policy, const struct gpu_facts *facts, struct arena *arena,
              struct gpu_ruling *out, struct err *err) must_check;

#endif
