/*
 * What the policy's "tuning" needs to know of the host, and of what this process may do: the
 * runtime behind us inherits both.
 */
#ifndef SHIM_TUNING_H
#define SHIM_TUNING_H

#include "shim/policy/policy.h"

struct tuning_limit {
    uint64_t soft, hard; /* of this process; UINT64_MAX: unlimited */
};

struct tuning_facts {
    uint64_t memory; /* of the host, in bytes */
    uint64_t cpus;   /* that this process may run on */
    bool may_raise;  /* hard limits: CAP_SYS_RESOURCE in the host's user namespace */
    uint64_t files;  /* the most that nofile can be (fs.nr_open), even for whoever may raise it */
    struct tuning_limit limits[TUNING_KINDS]; /* of those that are resource limits */
};

/* What cannot be found out is taken for the least. */
void tuning_gather(struct tuning_facts *out);

/* "RLIMIT_NOFILE" …; NULL for what is no resource limit. */
const char *tuning_rlimit(enum tuning_kind kind);

#endif
