/*
 * One container's config.json under a policy: read, plan, prepare the host's side, write.
 *
 * The pause container of a Kubernetes pod has the pod's annotations but runs nothing of the
 * user's: it gets no volumes. Where users set annotations themselves they can pass for one, and go
 * without volumes; everything else applies to pause containers too.
 */
#ifndef SHIM_EDIT_H
#define SHIM_EDIT_H

#include "shim/policy.h"

/* Edits the file that a create, run or restore names; leaves it alone if nothing is to be changed.
 */
int edit_config(const struct policy *policy, const struct call *call, struct err *err) must_check;

#endif
