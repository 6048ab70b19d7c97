/*
 * What would have kept the files of a directory out of a container's upper directory: a volume of
 * the policy, another place, or an addition to the policy. Pure.
 */
#ifndef SHIM_ADVICE_H
#define SHIM_ADVICE_H

#include "base/arena.h"
#include "shim/admin/copyups/tally.h"
#include "shim/policy/policy.h"

struct advice {
    const char *what;    /* what the directory holds, for people; NULL: unknown */
    const char *volume;  /* the class of the policy that would take it; NULL: none */
    const char *say;     /* one sentence; NULL: there is no advice */
    const char *snippet; /* a text for the policy's "volumes"; NULL: none */
    const char *root;    /* the directory that the advice is for */
};

/*
 * Advises on a directory. `policy` NULL: there is none. Texts are in the arena or borrowed from the
 * policy. Fails only without memory.
 */
int advice_on(const struct tally_directory *directory, const struct policy *policy,
              struct arena *arena, struct advice *out, struct err *err) must_check;

#endif
