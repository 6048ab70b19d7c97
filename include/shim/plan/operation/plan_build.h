/* A plan while it is made: operations are added at the end and decided on. */
#ifndef SHIM_PLAN_BUILD_H
#define SHIM_PLAN_BUILD_H

#include "shim/plan/operation/operation.h"

struct planner {
    const struct plan_input *in;
    struct arena *arena;
    struct plan_op *ops;
    size_t count;
    struct err *err;
};

/* Adds an operation at the end. NULL without memory. Pointers to older ones become invalid. */
struct plan_op *plan_push(struct planner *p, enum plan_kind kind);

/* Sets verdict and reason, and the place unless it is NULL. -1 without memory. */
int plan_decide(struct planner *p, struct plan_op *op, enum plan_verdict verdict,
                const struct policy_place *place, const char *format, ...)
    __attribute__((format(printf, 5, 6))) must_check;

/* Decides on a variable whose name and value are set: added, for that reason, unless the container
 * or a variable planned before has it already. -1 without memory. */
int plan_decide_variable(struct planner *p, struct plan_op *op, const char *reason) must_check;

/* Sets what the denial's message says about what is allowed: a text once, for all denials that have
 * it. -1 without memory. */
int plan_set_hint(struct planner *p, struct plan_op *op, const struct buf *hint) must_check;

/* Returns the last of the container's own mounts on that target, which is the one that is seen, or
 * NULL. */
const struct spec_mount *plan_mounted_on(const struct spec *spec, const char *target);

#endif
