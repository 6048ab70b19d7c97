/* The first and the last part of a policy that are read: policy_top.c has the order. */
#ifndef SHIM_POLICY_ORDER_H
#define SHIM_POLICY_ORDER_H

#include "shim/policy/read/decode/policy_decode.h"

/* Reads version, mode and runtime of d->file, also if the rest is wrong. */
int decode_header(struct decoder *d) must_check;

/* Reads d->file's profiles, once everything else was read. */
decode_fn decode_profiles;

#endif
