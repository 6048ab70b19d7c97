/* Volumes of a decision whose sources are staged (stage.h). */
#ifndef SHIM_STAGE_VOLUMES_H
#define SHIM_STAGE_VOLUMES_H

#include "shim/mount/source.h"
#include "shim/mount/submounts.h"
#include "shim/plan/decision/decision.h"
#include "shim/request/facts.h"
#include "shim/stage/stage.h"

struct staged_volume {
    struct outcome *outcome;
    int source; /* the directory; owned */
    struct stage_wanted wanted;
    struct stage_offer offer;
    struct staged_volume *next;
};

/* The volumes of one launch. */
struct stage_volumes {
    const struct facts *facts;
    struct decision *decision; /* of which volumes may be left out */
    struct submounts *submounts;
    struct arena *arena;
    bool look;    /* only: nothing is copied or waited for */
    bool lenient; /* a volume without a copy starts from its source, whatever the policy says; one
                     from a registry is left out */
    struct staged_volume *list;
};

/*
 * Looks up the copy of an open source, or has it made, if its class is staged. `source` is NULL in
 * a registry, which a rootless runtime refuses. The reason of the outcome says how it stands.
 */
int stage_volumes_add(struct stage_volumes *volumes, struct outcome *outcome,
                      const struct source *source, struct err *err) must_check;

/*
 * Waits for copies that are being made, and sets `staged` of the outcomes that have one. ERR_POLICY
 * names the volume that may not start without. With `look`, that volume is denied.
 */
int stage_volumes_end(struct stage_volumes *volumes, struct err *err) must_check;

/*
 * Opens the copy of an outcome whose `staged` is set, by its path: that of the very copy that is
 * held, also if a newer one has taken its place. The caller closes *out.
 */
int stage_volumes_find(const struct stage_volumes *volumes, const struct outcome *outcome,
                       struct source *out, struct err *err) must_check;

/* Releases all copies. */
void stage_volumes_close(struct stage_volumes *volumes);

#endif
