/*
 * The result of a plan on this host: for each operation an outcome, which begins as the plan says
 * and is changed by what is found out since: what the low-level runtime can do (plan_fit.c), which
 * sources are there and where they are held (shim/prepare), whether a root could be mounted anew
 * (shim/restack). The plan itself stays as it was made.
 */
#ifndef SHIM_DECISION_H
#define SHIM_DECISION_H

#include "shim/oci/features.h"
#include "shim/plan/mount_entry.h"

/* The state of the copy of a staged volume (stage.h). */
struct stage_outcome {
    const char *word;       /* "hit", "copying" …; NULL: the volume is not staged */
    uint64_t bytes, waited; /* of the mounted copy's files; milliseconds of the launch */
};

struct outcome {
    const struct plan_op *op;
    enum plan_verdict verdict;  /* the plan's, unless something was left out or found out */
    const char *reason;         /* of the verdict; never NULL */
    struct mount_form mount;    /* PLAN_MOUNT: how it is written */
    const char *staged;         /* PLAN_MOUNT: the copy that is mounted instead, or NULL */
    struct stage_outcome stage; /* PLAN_MOUNT */
    const char *hold;           /* PLAN_BIND: the path where its source is held (pin.h), or NULL */
};

struct decision {
    const struct plan *plan;
    struct outcome *list; /* one for each operation, in the order of the plan */
    size_t count;
    bool holds_namespaces; /* the plan's `joined` are held, and are to be joined by those paths */
};

/* Begins with what the plan says. The decision borrows from plan and arena. -1 without memory. */
int decision_begin(const struct plan *plan, struct arena *arena, struct decision *out,
                   struct err *err) must_check;

/*
 * Leaves out the mount at that index, and the variables that depend on it, also what an earlier
 * edit made of them. `reason` is borrowed.
 */
void decision_skip(struct decision *decision, size_t mount, const char *reason);

/* Returns 0, or -1 and ERR_POLICY with the reasons of all denials. */
int decision_check(const struct decision *decision, struct err *err) must_check;

/* Returns the hint of that outcome, if it is a denial, and no denial before it has the same; or
 * NULL. */
const char *decision_hint(const struct decision *decision, size_t i);

/* Returns true if applying it would change the document. */
bool decision_changes(const struct decision *decision);

/* The ability of the low-level runtime that a decision depends on. */
enum plan_need {
    PLAN_NEEDS_NOTHING,
    PLAN_WANTS_FEATURES, /* it can do without */
    PLAN_NEEDS_FEATURES, /* the policy demands what the runtime may lack */
};
enum plan_need plan_need(const struct decision *decision);

/*
 * Fits the new mounts to the features of the low-level runtime, which messages call `runtime`:
 * read-only mounts are so in depth if it can do that. ERR_UNSUPPORTED if it cannot do what the
 * policy demands; unless `enforce`, that is left out instead.
 */
int plan_fit(const struct features *features, const char *runtime, bool enforce,
             struct decision *decision, struct err *err) must_check;

#endif
