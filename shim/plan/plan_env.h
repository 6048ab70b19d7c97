/* Plans variables. */
#ifndef SHIM_PLAN_ENV_H
#define SHIM_PLAN_ENV_H

#include "shim/plan/operation/plan_build.h"

/* Decides on a variable whose name and value are set: added, for that reason, unless the container
 * or a variable planned before has it already. -1 without memory. */
int plan_decide_variable(struct planner *p, struct plan_op *op, const char *reason) must_check;

#endif
