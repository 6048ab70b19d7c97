/*
 * The host's side of a whole plan: every source that is ours is found or made, and pinned where a
 * user could replace it. Mounts whose source may be missing are marked as skipped, and unless the
 * policy is enforced so are those whose source cannot be had.
 */
#ifndef SHIM_VOLUMES_H
#define SHIM_VOLUMES_H

#include "shim/mount/source.h"
#include "shim/plan/plan.h"
#include "shim/request/facts.h"

/*
 * As whom a volume's source is searched where root may not: its owner, in *make; NULL if nobody
 * knows who that is.
 */
const struct user_ids *volumes_user(const struct plan_op *op, const struct facts *facts,
                                    struct source_make *make);

/* May enter a private mount namespace. Changes sources in the plan to the pinned ones. */
int volumes_prepare(struct plan *plan, const struct facts *facts, bool enforce, struct arena *arena,
                    struct err *err) must_check;

#endif
