/* Finds out whether a container's process is root on the host, or can become it, and which groups
 * it has there. */
#ifndef SHIM_SECURITY_USER_H
#define SHIM_SECURITY_USER_H

#include "shim/gather/security/security.h"

/*
 * Fills in the facts about the user, if the policy denies root. A user namespace that the container
 * joins is looked at through a child. Fails only without memory.
 */
int security_find_user(const struct policy_security *s, const struct spec *spec,
                       struct arena *arena, struct security_facts *out, struct err *err) must_check;

/*
 * Fills in the facts about the process's groups, if the policy denies those that are not its user's
 * own (groups.h). Fails only without memory.
 */
int security_find_groups(const struct policy_security *s, const struct spec *spec,
                         const struct facts *facts, struct arena *arena, struct security_facts *out,
                         struct err *err) must_check;

#endif
