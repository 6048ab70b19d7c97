/* Findings about rules that give more than they seem to. */
#ifndef SHIM_LINT_GRANTS_H
#define SHIM_LINT_GRANTS_H

#include "shim/admin/check/findings.h"

/*
 * Adds findings about devices, annotations, hooks and targets that are allowed in a policy that is
 * to keep users from the host. Pure.
 */
void lint_grants(const struct policy *policy, struct findings *out);

/*
 * Returns the key of what a profile's policy allows and the policy itself denies; NULL: nothing.
 * Pure.
 */
const char *lint_profile_grants(const struct policy *policy, const struct policy *profile);

#endif
