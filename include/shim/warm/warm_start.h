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
    uint64_t limit;  /* bytes of memory that the container may use; 0: no limit */
    pid_t launcher;  /* ends when the launch returns */
    pid_t container; /* by hand: a process of a container that runs, of which a record is made; 0 */
    int mounts;      /* the mount namespace that has `point`; -1: this one */
    struct arena *arena;
    size_t written; /* the result: how many records were written */
};

/*
 * Looks at the container's opens, waits until the launch has returned or the container runs, reads
 * ahead, and writes the records. Of a container that runs a record is made, and nothing is read.
 * Takes as long as the policy's "for"; a signal ends it, where those are held (interrupt.h).
 * Returns 0 also where there is nothing to do.
 */
int warm_start_run(struct warm_start *start, struct err *err) must_check;

#endif
