/*
 * Finds what a policy that loads cannot mean: rules that never decide, names that are never
 * offered, limits that other sections undo; and names that this host does not have.
 */
#ifndef SHIM_LINT_H
#define SHIM_LINT_H

#include "shim/admin/check/findings.h"

/* Adds findings from the policy alone. Pure. */
void lint_policy(const struct policy *policy, struct findings *out);

/*
 * Adds a note on the actions of an engine that no policy of a runtime judges, for a policy that
 * refuses something. Pure.
 */
void lint_reach(const struct policy *policy, struct findings *out);

/*
 * Adds findings from the host: runtimes, sources, seccomp profiles, directories of the audit.
 * Changes nothing; a source that does not answer is given up.
 */
void lint_host(const struct policy *policy, struct findings *out);

/*
 * Adds findings from the configurations of engines and of NVIDIA's toolkit in /etc: orders of
 * runtimes in which the policy judges too early, or not at all. Changes nothing.
 */
void lint_engines(const struct policy *policy, struct findings *out);

#endif
