/* What the sources that build a plan share. */
#ifndef SHIM_PLAN_BUILD_H
#define SHIM_PLAN_BUILD_H

#include "shim/plan/plan.h"

struct planner {
    const struct plan_input *in;
    struct arena *arena;
    struct plan *plan;
    struct err *err;
};

/* A new operation at the end; NULL without memory. Pointers to older ones become invalid. */
struct plan_op *plan_push(struct planner *p, enum plan_kind kind);

/* Sets verdict and reason, and the place unless it is NULL. -1 without memory. */
int plan_decide(struct planner *p, struct plan_op *op, enum plan_verdict verdict,
                const struct policy_place *place, const char *format, ...)
    __attribute__((format(printf, 5, 6))) must_check;

/* The last of the container's own mounts on that target, which is the one that is seen, or NULL. */
const struct spec_mount *plan_mounted_on(const struct spec *spec, const char *target);

/* Judges the mounts that the user brought. */
int plan_add_binds(struct planner *p) must_check;

/* Judges what the container would be on the host. */
int plan_add_security(struct planner *p) must_check;

/* Sizes /dev/shm, resource limits and numbers of threads. */
int plan_add_tuning(struct planner *p) must_check;

/* Judges how many layers the container's root has. */
int plan_add_rootfs(struct planner *p) must_check;

/* Decides on a variable: added, for that reason, unless something has it already. */
int plan_decide_variable(struct planner *p, struct plan_op *op, const char *reason) must_check;

/* Adds the variables of every mount that will be there. */
int plan_add_env(struct planner *p) must_check;

#endif
