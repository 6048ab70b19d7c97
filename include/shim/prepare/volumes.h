/*
 * The host's side of a whole decision: every source of a volume is found or made, and pinned
 * (pin.h) if a user could replace it, and so are the mounts that the user brought. A volume whose
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

/*
 * Prepares the sources for the container of a call. May enter a private mount namespace; the
 * outcomes then name the pinned paths. Reasons and paths are in the arena. ERR_POLICY and
 * ERR_SYSTEM name the volume.
 */
int volumes_prepare(const struct call *call, const struct facts *facts, bool enforce,
                    struct arena *arena, struct decision *decision, struct err *err) must_check;

#endif
