/* Judges what a container would be on the host, by the policy's "security". */
#ifndef SHIM_PLAN_SECURITY_H
#define SHIM_PLAN_SECURITY_H

#include "shim/plan/operation/plan_build.h"

/* Adds an operation for each thing that is denied or taken away. Fails only without memory. */
int plan_add_security(struct planner *p) must_check;

/*
 * Denies annotations that the policy denies, and those by which runc or crun would replace what the
 * policy judges, also without "security". Fails only without memory.
 */
int plan_add_annotations(struct planner *p) must_check;

#endif
