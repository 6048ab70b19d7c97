/*
 * One container's config.json under a policy: read, plan, prepare the host's side, write.
 *
 * The pause container of a Kubernetes pod has the pod's annotations but runs nothing of the
 * user's: it gets no volumes, but what it brings is judged like any other's. Where users set
 * annotations themselves they can pass for one, and go without volumes.
 */
#ifndef SHIM_EDIT_H
#define SHIM_EDIT_H

#include "shim/lowlevel.h"
#include "shim/policy.h"

/* Edits the file that a create, run or restore names; leaves it alone if nothing is to be changed.
 */
int edit_config(const struct policy *policy, const struct call *call, struct lowlevel *low,
                struct err *err) must_check;

#endif
