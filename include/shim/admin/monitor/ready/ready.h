/*
 * The seconds that containers take from the start of their first process until they are ready, by
 * the mark that "audit.alerts.ready" names. No engine is asked: the process is found by its control
 * group (/proc/PID/cgroup), the mark in the container's root or in the engine's files.
 */
#ifndef SHIM_READY_H
#define SHIM_READY_H

#include "shim/admin/containers/containers.h"
#include "shim/policy/policy.h"

/* The start of a running container. */
struct start {
    bool known; /* false: its process, or the place of the mark, is not known; or not looked for */
    bool ready;
    time_t ready_at;  /* seconds since 1970; 0: it is not ready, or nobody knows since when */
    uint64_t seconds; /* until it was ready, or until now; 0: nobody knows */
};

/* A container whose start is wanted. */
struct start_wish {
    const struct container_found *container;
    bool alerted; /* its start was an alert in the run before */
    struct start start;
};

/*
 * Fills in the starts. `before` is the time of the run before, or 0: of a container that was beyond
 * its limit then, and no alert, the mark is not looked for again. Containers have the 64 digits of
 * Docker, podman and Kubernetes for an ID; others are not known. Fails without memory, or if /proc
 * cannot be read.
 */
int starts_find(const struct policy_alerts *limits, time_t before, struct start_wish *wishes,
                size_t count, struct err *err) must_check;

#endif
