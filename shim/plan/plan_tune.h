/* What the sources that plan "tuning" share. */
#ifndef SHIM_PLAN_TUNE_H
#define SHIM_PLAN_TUNE_H

#include "shim/gather/limits.h"
#include "shim/plan/plan_build.h"

struct tuner {
    struct planner *p;
    uint64_t memory; /* the container may use, in bytes */
    uint64_t cpus;   /* whole ones */
};

/* What a container gets of one kind, unless it brings its own. */
struct wish {
    bool given, asked;
    uint64_t amount;
    const char *asked_by; /* the request, or the policy's key */
};

/* A new operation for that kind, with its subject; NULL without memory. */
struct plan_op *plan_tune_push(struct planner *p, enum tuning_kind kind, const char *asked_by);

/*
 * Finds it out; a request for more than the policy's maximum is denied by an operation of its own,
 * and counts as none. -1 without memory.
 */
int plan_tune_wish(struct tuner *t, enum tuning_kind kind, struct wish *out) must_check;

/* "8g" in the plan's memory; NULL without memory. */
const char *plan_tune_text(struct planner *p, enum tuning_kind kind, uint64_t amount) must_check;

int plan_add_shm(struct tuner *t) must_check;
int plan_add_rlimits(struct tuner *t) must_check;

#endif
