/*
 * What a policy that loads says, but cannot mean: rules that never decide, names that nobody is
 * offered, limits that other sections undo; and what it names that this host does not have.
 */
#ifndef SHIM_LINT_H
#define SHIM_LINT_H

#include "shim/admin/check/findings.h"

/* From the policy alone. Pure. */
void lint_policy(const struct policy *policy, struct findings *out);

/* From the host: runtimes, sources, seccomp profiles, where the audit is written. Looks only; a
 * source that hangs is given up. */
void lint_host(const struct policy *policy, struct findings *out);

#endif
