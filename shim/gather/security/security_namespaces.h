/* Finds the namespaces that a container shares with the host, and those that it joins. */
#ifndef SHIM_SECURITY_NAMESPACES_H
#define SHIM_SECURITY_NAMESPACES_H

#include "shim/gather/security/security.h"

/* Fills in the facts about namespaces, if the policy judges them. Fails only without memory. */
int security_find_namespaces(const struct policy_security *s, const struct spec *spec,
                             struct arena *arena, struct security_facts *out,
                             struct err *err) must_check;

#endif
