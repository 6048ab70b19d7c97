/* Plans resource limits: locked memory, open files, stacks. */
#ifndef SHIM_PLAN_RLIMIT_H
#define SHIM_PLAN_RLIMIT_H

#include "shim/plan/tuning/plan_tune.h"

/* Adds an operation for each limit that the policy or a request sets. -1 without memory. */
int plan_rlimits(struct tuner *t) must_check;

#endif
