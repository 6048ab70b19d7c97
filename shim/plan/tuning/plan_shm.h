/* Plans the size of /dev/shm. */
#ifndef SHIM_PLAN_SHM_H
#define SHIM_PLAN_SHM_H

#include "shim/plan/tuning/plan_tune.h"

/* Adds an operation if the policy or a request sets a size. -1 without memory. */
int plan_shm(struct tuner *t) must_check;

#endif
