/*
 * The runtimes around GPUs on a host: flatbed-runtime, NVIDIA's runtime and those that they call.
 * The policy judges what NVIDIA's runtime has written into config.json, so it has to come second.
 */
#ifndef SHIM_LINT_NVIDIA_H
#define SHIM_LINT_NVIDIA_H

#include "shim/admin/check/findings.h"
#include "shim/admin/engine/engine_runtimes.h"
#include "shim/admin/engine/nvidia_toolkit.h"

enum { NVIDIA_HOST_MOST = 16 };

/* A configuration of the toolkit, and the programs that its runtime can call. */
struct nvidia_view {
    struct nvidia_toolkit toolkit;
    struct runtime_program calls[NVIDIA_HOST_MOST]; /* its `runtimes`, in order */
    size_t call_count;
    bool has_spec; /* a CDI specification */
};

struct nvidia_host {
    const struct policy_place *paths;                  /* of runtime.paths; NULL: not given */
    struct runtime_program lowlevel[NVIDIA_HOST_MOST]; /* that flatbed-runtime can call, in order */
    size_t lowlevel_count;
    struct nvidia_view *views;
    size_t view_count;
    struct {
        const struct engine_runtime *runtime; /* one of NVIDIA */
        size_t view;                          /* the configuration that it reads */
        bool starts_runc;                     /* see runtime_program.h */
    } runtimes[NVIDIA_HOST_MOST];
    size_t runtime_count;
};

/* Adds the findings about a host; `off`: only errors, the policy is off. Pure. */
void lint_nvidia(const struct nvidia_host *host, bool off, struct findings *out);

#endif
