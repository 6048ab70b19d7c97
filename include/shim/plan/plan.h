/*
 * policy × requests × spec → a list of operations, each with its verdict, the reason and the line
 * of the policy that decided. Pure: the same list is applied, explained and audited, and stays as
 * it was made; what comes of it on this host is kept beside it (decision.h).
 *
 * Rules. `always` volumes come first, then what is asked for; asking for what is mounted anyway
 * only changes how. Two volumes on one target are denied. Where the container's own mounts have the
 * target already: one that is exactly what would be written is kept (a second edit changes
 * nothing), another wins over an `always` volume and denies a request; one whose source is in the
 * directory of pinned sources is denied unless it is exactly ours. Mounts are in the order of their
 * targets' depth, so that none hides another. Variables that the container has are kept.
 *
 * Mounts that the user brought are judged by the longest rule that holds the source, and no less
 * strictly than by any rule for something within it: what is denied cannot be had by mounting the
 * directory around it. PLAN_DOWNGRADED: it is mounted with the restrictions that `reason` names.
 *
 * "security" denies all that it does not allow, but for capabilities beyond `max` and those of
 * `drop`, which are taken away. Capabilities, devices and seccomp of a privileged container are not
 * judged: it is allowed or denied as a whole.
 *
 * "tuning" fills in what nobody chose: a size of /dev/shm or a resource limit that is an engine's
 * default is replaced, any other is the user's and kept, as are the user's variables. A request
 * beyond the policy's maximum is denied.
 */
#ifndef SHIM_PLAN_H
#define SHIM_PLAN_H

#include "shim/plan/operation/operation.h"

/*
 * Makes the plan. It borrows from the input and the arena. Fails only without memory, and leaves an
 * empty plan then; what is not allowed is an operation with PLAN_DENIED.
 */
int plan_make(const struct plan_input *input, struct arena *arena, struct plan *out,
              struct err *err) must_check;

#endif
