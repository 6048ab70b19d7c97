/*
 * Names of GPUs, as requests and the policy write them: "0", "GPU-…", "MIG-…", "1:0" (the first MIG
 * device of GPU 1), "all", and each of these behind "nvidia.com/gpu=". Pure.
 */
#ifndef SHIM_GPU_NAME_H
#define SHIM_GPU_NAME_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum gpu_name_kind {
    GPU_NAME_UNKNOWN, /* cannot be told what it gives */
    GPU_NAME_NOTHING, /* "void": no GPU, and nothing of the driver */
    GPU_NAME_NONE,    /* "none": no GPU, but the driver */
    GPU_NAME_ALL,
    GPU_NAME_INDEX,
    GPU_NAME_UUID,  /* or the beginning of one */
    GPU_NAME_SLICE, /* a MIG device by numbers */
    GPU_NAME_MIG,   /* a MIG device by its UUID */
};

struct gpu_name {
    enum gpu_name_kind kind;
    unsigned index;   /* of GPU_NAME_INDEX and GPU_NAME_SLICE */
    const char *text; /* without "nvidia.com/gpu="; in the arena, or static */
};

/* Parses one name. Returns false without memory. */
bool gpu_name_parse(const char *text, size_t len, struct arena *arena, struct gpu_name *out);

/*
 * Parses "0-3" or "0". Returns false for anything else: numbers have no leading zeros, which some
 * programs read as octal.
 */
bool gpu_name_range(const char *text, unsigned *first, unsigned *last);

#endif
