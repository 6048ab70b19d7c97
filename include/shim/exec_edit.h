/*
 * exec: the variables and resource limits that create added are added to process.json, unless it
 * sets them itself (to something else than the engine did then). A file that is not what it should
 * be is left to the runtime to refuse.
 */
#ifndef SHIM_EXEC_EDIT_H
#define SHIM_EXEC_EDIT_H

#include "shim/call.h"

/* For a call of call_execs. A failure leaves the file as it was, and is no reason to stop. */
int exec_edit(const struct call *call, struct err *err) must_check;

#endif
