/* Readers of one section each; policy_sections.c has their table. */
#ifndef SHIM_SECTIONS_H
#define SHIM_SECTIONS_H

#include "shim/policy/read/sections/policy_sections.h"

decode_fn decode_volumes;
decode_fn decode_binds;
decode_fn decode_security;
decode_fn decode_tuning;
decode_fn decode_rootfs;
decode_fn decode_user;
decode_fn decode_warm;
decode_fn decode_gpus;
decode_fn decode_alerts; /* of a struct policy_audit */
decode_fn decode_stage;  /* of a struct policy_volume */

/* Returns what a class whose source is in a registry lacks, or has in vain; NULL: nothing. */
const char *decode_registry_problem(const struct policy_volume *volume);

/* Checks classes and volumes that may be of several files. ERR_POLICY for one that cannot work. */
int decode_volumes_check(struct policy *policy, struct err *err) must_check;

#endif
