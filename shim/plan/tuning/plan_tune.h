/* Finds out what the policy's "tuning" wishes for one container: amounts, and operations for them.
 */
#ifndef SHIM_PLAN_TUNE_H
#define SHIM_PLAN_TUNE_H

#include "shim/plan/operation/plan_build.h"

struct tuner {
    struct planner *p;
    uint64_t memory; /* bytes that the container may use */
    uint64_t cpus;   /* whole CPUs that it may use */
};

/* The amount of one kind that a container gets, unless it sets its own. */
struct wish {
    bool given; /* else nothing is wished for */
    bool asked; /* by a request; else by the policy */
    uint64_t amount;
    const char *asked_by; /* the request, or the policy's key */
};

/* Adds an operation for that kind, with its subject. NULL without memory. */
struct plan_op *plan_tune_push(struct planner *p, enum tuning_kind kind, const char *asked_by);

/*
 * Finds out what is wished for. A request for more than the policy's maximum is denied by an
 * operation of its own, and counts as none. -1 without memory.
 */
int plan_tune_wish(struct tuner *t, enum tuning_kind kind, struct wish *out) must_check;

/* Returns the amount in words, such as "8g", in the arena. NULL without memory. */
const char *plan_tune_text(struct planner *p, enum tuning_kind kind, uint64_t amount) must_check;

#endif
