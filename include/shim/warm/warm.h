/*
 * "warm" of the policy: a process behind a launch records what the container reads in its first
 * seconds, and reads ahead what was recorded before, once the launch has returned. Only for
 * containers whose root is an overlay that the engine mounted.
 */
#ifndef SHIM_WARM_H
#define SHIM_WARM_H

#include "shim/plan/decision/decision.h"
#include "shim/plan/judge.h"

/*
 * Returns a descriptor of the mount namespace in which the engine mounted the root, if the policy
 * has "warm" and there is something to do; -1: nothing. To be called before the launch enters a
 * namespace of its own, which a process behind it would keep alive.
 */
int warm_prepare(const struct judgement *judgement);

/*
 * Starts the process for a launch that is decided. It costs two forks; everything else is done in
 * the background. A failure goes to syslog, and the container starts all the same.
 */
void warm_launch(int mounts, const struct judgement *judgement, const struct decision *decision,
                 const struct spec *spec);

/*
 * Sets *out to a sentence on what the next start of the container reads ahead or records, in the
 * arena, or to NULL if the policy has no "warm". Fails without memory.
 */
int warm_look(const struct judgement *judgement, struct arena *arena, const char **out,
              struct err *err) must_check;

#endif
