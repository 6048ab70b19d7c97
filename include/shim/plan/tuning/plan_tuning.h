/* Plans the policy's "tuning". */
#ifndef SHIM_PLAN_TUNING_H
#define SHIM_PLAN_TUNING_H

#include "shim/plan/operation/plan_build.h"

/* Sizes /dev/shm, resource limits and numbers of threads. Fails only without memory. */
int plan_add_tuning(struct planner *p) must_check;

#endif
