/* The sections of a policy: what each key of the top level sets. */
#ifndef SHIM_POLICY_SECTIONS_H
#define SHIM_POLICY_SECTIONS_H

#include "shim/policy/read/decode/policy_decode.h"

/* Read a section that comes before the others; the target is d->policy. */
decode_fn decode_mode;
decode_fn decode_audit;

/*
 * Reads all sections of d->file but those that are read before (the header, audit) or after
 * (profiles).
 */
int decode_sections(struct decoder *d) must_check;

/* Reads a member of the top level that overrides d->policy, in a profile. */
int decode_override(struct decoder *d, const struct json_member *m) must_check;

/* Checks what only the whole policy can tell. */
int decode_check(struct policy *policy, struct err *err) must_check;

#endif
