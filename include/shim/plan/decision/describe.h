/*
 * Describes an operation and its outcome in words: one form for `flatbed explain`, for the audit,
 * and for machines.
 *
 * As JSON it is an object with "kind", "verdict", "subject" and "reason", and where they apply
 * "source", "target", "access", "value", "asked_by", "stage" and "policy" ("FILE:LINE" of the rule
 * that decided).
 */
#ifndef SHIM_DESCRIBE_H
#define SHIM_DESCRIBE_H

#include "shim/plan/decision/decision.h"

struct description {
    const char *kind;    /* "volume", "variable", "mount", "security", "shm", "limit" … */
    const char *verdict; /* "added", "kept", "downgraded", "denied", "skipped" */
    const char *subject; /* "CLASS:NAME", a variable, a target, a key of the policy; never NULL */
    const char *source, *target, *access, *value, *asked_by; /* or NULL */
    const char *stage;  /* "hit", "miss", "copying" …, of a volume that is staged; or NULL */
    const char *reason; /* never NULL */
    const char *policy; /* or NULL */
};

/* Returns the word for the kind of an operation. Static. */
const char *describe_kind(const struct plan_op *op);

/* Returns the word for the verdict of an outcome. Static. */
const char *describe_verdict(const struct outcome *o);

/* Describes an operation and its outcome. The words are in the arena, or borrowed from both. -1
 * without memory. */
int describe_outcome(const struct outcome *o, struct arena *arena, struct description *out,
                     struct err *err) must_check;

/* Returns the description as a new object of `doc`. Failures are the document's (json_failed). */
struct json *describe_json(const struct description *d, struct json_doc *doc);

#endif
