/*
 * rootfs.beyond "restack": mounts a container's root of many layers anew with one, a tree of hard
 * links to the layers' files (restack_tree.h), if the cache has one. If it has none yet, one is
 * built in the background, for later containers. A launch never waits for that, and fails only if
 * the engine's mount could not be mounted again.
 *
 * The outcome of the operation PLAN_ROOTFS with `restack` becomes
 *   PLAN_ADDED    the root is mounted anew, or would be (`look`)
 *   PLAN_KEPT     the engine's mount stays: there is no tree yet, or none is worth making
 *   PLAN_SKIPPED  the engine's mount stays, as it may not be replaced
 * and its reason says so.
 */
#ifndef SHIM_RESTACK_H
#define SHIM_RESTACK_H

#include "shim/plan/decision/decision.h"
#include "shim/plan/judge.h"

/*
 * Restacks the root of a judgement, if the policy wants that; the result is in the decision, its
 * reason in the arena. `look`: mounts and builds nothing. Fails without memory, or if nothing is
 * mounted there any more.
 */
int restack_root(const struct judgement *judgement, bool look, struct arena *arena,
                 struct decision *decision, struct err *err) must_check;

#endif
