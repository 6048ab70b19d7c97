/*
 * Gathers what the policy's "tuning" must know of the host, and of the rights of this process,
 * which the low-level runtime inherits.
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
    uint64_t files;  /* the most that nofile can be (fs.nr_open), even with CAP_SYS_RESOURCE */
    struct tuning_limit limits[TUNING_KINDS]; /* of those that are resource limits */
};

/* Gathers the facts. An amount that cannot be found out counts as the least. */
void tuning_gather(struct tuning_facts *out);

/* Returns "RLIMIT_NOFILE" …; NULL for a kind that is no resource limit. Static. */
const char *tuning_rlimit(enum tuning_kind kind);

#endif
