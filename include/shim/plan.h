/*
 * policy × requests × spec → a list of operations, each with its verdict, the reason and the line
 * of the policy that decided. Pure: the same list is applied, explained and audited.
 *
 * Rules. `always` volumes come first, then what is asked for; asking for what is mounted anyway
 * only changes how. Two volumes on one target are denied. Where the container's own mounts have the
 * target already: one that is exactly what would be written is kept (a second edit changes
 * nothing), another wins over an `always` volume and denies a request; one whose source is in the
 * folder of pinned sources is denied unless it is exactly ours. Mounts are in the order of their
 * targets' depth, so that none hides another. Variables that the container has are kept.
 */
#ifndef SHIM_PLAN_H
#define SHIM_PLAN_H

#include "shim/request.h"
#include "shim/spec.h"
#include "shim/template.h"

enum plan_kind { PLAN_MOUNT, PLAN_ENV };

enum plan_verdict {
    PLAN_ADDED,
    PLAN_KEPT,       /* the container has it already */
    PLAN_DOWNGRADED, /* added with less access than asked for */
    PLAN_DENIED,     /* fails the launch, unless the policy is permissive */
    PLAN_SKIPPED,    /* left out without harm */
};

struct plan_op {
    enum plan_kind kind;
    enum plan_verdict verdict;
    const char *reason;                 /* a sentence without full stop; never NULL */
    struct policy_place place;          /* of the rule that decided */
    const struct policy_volume *volume; /* NULL for a request that names none */
    const char *name;                   /* of the volume within its class; "" if it has none */
    const char *asked_by;               /* the annotation, or NULL for `always` */

    /* mounts */
    const char *source, *target; /* clean absolute; NULL when denied before they were known */
    enum policy_access access;
    bool ours;   /* the source is this volume's: it must be made and checked even if kept */
    bool pinned; /* the container's mount names the pinned path, from an edit before this one */

    /* variables */
    const char *variable, *value;
    size_t mount; /* the operation that it depends on */
};

struct plan {
    struct plan_op *ops; /* mounts by depth of target, denials among them, then variables */
    size_t count;
};

struct plan_input {
    const struct policy *policy;
    const struct requests *requests;
    const struct spec *spec;
    struct template_values values; /* without {name} and {target} */
};

/* Fails only without memory; what is not allowed is an operation with PLAN_DENIED. */
int plan_make(const struct plan_input *input, struct arena *arena, struct plan *out,
              struct err *err) must_check;

/* Marks a mount, and the variables that depend on it, as skipped. */
void plan_skip(struct plan *plan, size_t mount, const char *reason);

/* 0, or -1 and ERR_POLICY with the reasons of all denials. */
int plan_check(const struct plan *plan, struct err *err) must_check;

/* True if applying it would change the document. */
bool plan_changes(const struct plan *plan);

/* Where the checked source of a volume is bound in the shim's private mounts (source.h). */
const char *plan_pin_path(const struct plan_op *op, struct arena *arena);

#endif
