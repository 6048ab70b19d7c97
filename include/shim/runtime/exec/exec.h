/*
 * exec: applies to process.json the rules that create kept (exec_rules.h), and adds the variables
 * and resource limits that create added, unless exec sets them itself (to other values than the
 * engine did then). Without rules nothing is an error: a malformed file is left to the runtime to
 * refuse.
 */
#ifndef SHIM_EXEC_EDIT_H
#define SHIM_EXEC_EDIT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/oci/call.h"

/*
 * Edits the process.json of a call for which call_execs is true. A failure (ERR_POLICY: it is
 * denied) leaves the file as it was.
 */
int exec_edit(const struct call *call, struct err *err) must_check;

#endif
