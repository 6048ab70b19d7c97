/* One container's config.json under a policy: read, judge, prepare the host's side, write. */
#ifndef SHIM_CREATE_H
#define SHIM_CREATE_H

#include "shim/oci/call.h"
#include "shim/oci/lowlevel.h"
#include "shim/policy/policy.h"

/* Edits the file that a create, run or restore names; leaves it alone if nothing is to be changed.
 */
int edit_config(const struct policy *policy, const struct call *call, struct lowlevel *low,
                struct err *err) must_check;

#endif
