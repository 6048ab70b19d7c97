/* A create from config.json to config.json: read, judge, prepare the host, apply, write. */
#ifndef SHIM_CREATE_H
#define SHIM_CREATE_H

#include "shim/oci/call.h"
#include "shim/oci/lowlevel.h"
#include "shim/policy/policy.h"

/*
 * Edits the config.json that a create, run or restore names, and audits the decision. The file is
 * not written if nothing changes. ERR_POLICY: the container must not start.
 */
int edit_config(const struct policy *policy, const struct call *call, struct lowlevel *low,
                struct err *err) must_check;

#endif
