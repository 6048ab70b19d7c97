/*
 * Advice that would have kept the files of a directory out of a container's upper directory: a
 * volume of the policy, another place, or an addition to the policy. Pure.
 */
#ifndef SHIM_ADVICE_H
#define SHIM_ADVICE_H

#include "base/arena.h"
#include "base/buf.h"
#include "shim/admin/copyups/tally.h"
#include "shim/policy/policy.h"

struct advice {
    const char *what;   /* what the directory holds, for people; NULL: unknown */
    const char *volume; /* the class of the policy that would take it; NULL: none */
    const char *say;    /* one sentence; NULL: there is no advice */
    const char *root;   /* the directory that the advice is for */
    const char *class;  /* of a volume that the policy lacks; NULL: none */
    const char *preset; /* of that volume, for caches; NULL: none */
};

/*
 * Advises on a directory. `policy` NULL: there is none. Texts are in the arena or borrowed from the
 * policy. Fails only without memory.
 */
int advice_on(const struct tally_directory *directory, const struct policy *policy,
              struct arena *arena, struct advice *out, struct err *err) must_check;

/*
 * Appends what "volumes" of the policy needs for all of these, one class a line, each with `margin`
 * before it. Nothing is appended if nothing is needed.
 */
void advice_snippet(const struct advice *list, size_t count, const char *margin, struct buf *out);

#endif
