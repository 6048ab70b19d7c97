/*
 * exec: process.json is held to the rules that create kept (exec_rules.h), and is given the
 * variables and resource limits that create added, unless it sets them itself (to something else
 * than the engine did then). A container without rules is given what can be given: a file that is
 * not what it should be is left to the runtime to refuse.
 */
#ifndef SHIM_EXEC_EDIT_H
#define SHIM_EXEC_EDIT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/oci/call.h"

/* For a call of call_execs. A failure (ERR_POLICY: it is denied) leaves the file as it was. */
int exec_edit(const struct call *call, struct err *err) must_check;

#endif
