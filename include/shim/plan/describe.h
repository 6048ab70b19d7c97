/*
 * An operation of a plan in words: one form for `flatbed explain`, for the audit, and for machines.
 *
 * As JSON it is an object with "kind", "verdict", "subject" and "reason", and where they apply
 * "source", "target", "access", "value", "asked_by" and "policy" ("FILE:LINE" of the rule that
 * decided).
 */
#ifndef SHIM_DESCRIBE_H
#define SHIM_DESCRIBE_H

#include "shim/plan/plan.h"

struct description {
    const char *kind;    /* "volume", "variable", "mount", "security", "shm", "limit" … */
    const char *verdict; /* "added", "kept", "downgraded", "denied", "skipped" */
    const char *subject; /* "CLASS:NAME", a variable, a target, a key of the policy; never NULL */
    const char *source, *target, *access, *value, *asked_by; /* or NULL */
    const char *reason;                                      /* never NULL */
    const char *policy;                                      /* or NULL */
};

/* The words for an operation's kind and verdict; static. */
const char *describe_kind(const struct plan_op *op);
const char *describe_verdict(const struct plan_op *op);

/* The words are in the arena, or borrowed from the operation. -1 without memory. */
int describe_op(const struct plan_op *op, struct arena *arena, struct description *out,
                struct err *err) must_check;

/* The same as an object of `doc` (failures are the document's: json_failed). */
struct json *describe_json(const struct description *d, struct json_doc *doc);

#endif
