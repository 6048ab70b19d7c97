/*
 * The second look at the mounts that a user brought: a source that a user could swap is opened
 * again and held by a bind mount in PIN_DIRECTORY (pin.h), from where the low-level runtime mounts
 * it. So is each read-only source where users can lead the runtime into it (plan.loose): it is
 * read-only there before anything can be made in it.
 */
#ifndef SHIM_BINDS_HOLD_H
#define SHIM_BINDS_HOLD_H

#include "shim/plan/decision/decision.h"

/* Returns true if a mount that stays has a source that is to be held, or that was held before. */
bool binds_exposed(const struct decision *decision);

/*
 * Opens those sources again, in the private namespace of pin_begin, and holds them: the outcomes
 * get the paths (`hold`), in the arena. ERR_POLICY if one is no longer what was judged.
 */
int binds_hold(struct decision *decision, struct arena *arena, struct err *err) must_check;

#endif
