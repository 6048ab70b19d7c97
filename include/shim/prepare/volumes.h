/*
 * The host's side of a whole decision: every source of a volume is found or made, and pinned
 * (pin.h) if a user could replace it, and so are the mounts that the user brought; generated files
 * are written beside them. A volume whose
 * source may be missing is left out if it is, and unless the policy is enforced so is one whose
 * source cannot be used.
 */
#ifndef SHIM_VOLUMES_H
#define SHIM_VOLUMES_H

#include "shim/mount/source.h"
#include "shim/oci/call.h"
#include "shim/plan/decision/decision.h"
#include "shim/request/facts.h"

/* Returns true for an operation that is a volume whose source must be there. */
bool volumes_concern(const struct outcome *o);

/*
 * Returns the user as whom a volume's source is searched if root may not: its owner, written to
 * *make; NULL if the owner is not known.
 */
const struct user_ids *volumes_user(const struct outcome *o, const struct facts *facts,
                                    struct source_make *make);

/* A check of the decision, for volumes_prepare: 0, or -1 to refuse the container. */
struct volumes_check {
    int (*run)(void *subject, struct err *err);
    void *subject;
};

/*
 * Prepares the sources for the container of a call. May enter a private mount namespace; the
 * outcomes then name the pinned paths. Reasons and paths are in the arena. ERR_POLICY and
 * ERR_SYSTEM name the volume. Directories are made last: after all other sources were found, and
 * after `check`, which is not run if there is nothing to make.
 */
int volumes_prepare(const struct call *call, const struct facts *facts, bool enforce,
                    const struct volumes_check *check, struct arena *arena,
                    struct decision *decision, struct err *err) must_check;

#endif
