/* The start of one container, as the process behind its launch goes through it. */
#ifndef SHIM_WARM_START_H
#define SHIM_WARM_START_H

#include "shim/mount/layers.h"
#include "shim/policy/policy.h"

struct warm_volume {
    const char *directory; /* on the host */
    const char *target;    /* in the container */
};

struct warm_start {
    const struct policy_warm *rules;
    const char *store;
    const char *image; /* its reference; NULL: not known */
    const char *point; /* the mount point of the root … */
    const struct layers *layers;
    struct warm_volume *volumes;
    size_t volume_count;
    uint64_t limit; /* bytes of memory that the container may use; 0: no limit */
    pid_t launcher; /* ends when the launch returns */
    int mounts;     /* the mount namespace that has `point`; -1: this one */
    struct arena *arena;
};

/*
 * Looks at the container's opens, waits until the launch has returned or the container runs, reads
 * ahead, and writes the records. Takes as long as the policy's "for". Returns 0 also where there is
 * nothing to do.
 */
int warm_start_run(struct warm_start *start, struct err *err) must_check;

#endif
