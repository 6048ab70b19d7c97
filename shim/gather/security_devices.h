/* What the sources that look at the host for "security" share. */
#ifndef SHIM_SECURITY_DEVICES_H
#define SHIM_SECURITY_DEVICES_H

#include "shim/gather/security.h"

/* The numbers of the host's device files that the globs name. */
int security_find_devices(const struct policy_list *globs, struct arena *arena,
                          struct security_facts *out, struct err *err) must_check;

#endif
