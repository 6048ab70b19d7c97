/*
 * rootfs.beyond "restack": a container's root of many layers is mounted anew with one, a tree of
 * hard links to the layers' files (restack_tree.h), if there is one in the cache. If there is none
 * yet it is made in the background, for those that come later. A launch never waits for it, and
 * never fails for it but where the engine's own mount could not be put back.
 *
 * An operation of the plan (PLAN_ROOTFS with `restack`) becomes
 *   PLAN_ADDED    the root is, or (where it is only looked at) would be, mounted anew
 *   PLAN_KEPT     the engine's mount stays: there is no tree yet, or none is worth making
 *   PLAN_SKIPPED  the engine's mount stays, as this one may not be replaced
 * and its reason says so.
 */
#ifndef SHIM_RESTACK_H
#define SHIM_RESTACK_H

#include "shim/plan/decision.h"
#include "shim/plan/judge.h"

/* With `look` nothing is mounted or started. What is written into the plan is in the arena. */
int restack_root(const struct judgement *judgement, bool look, struct arena *arena,
                 struct decision *decision, struct err *err) must_check;

#endif
