/*
 * Finds and removes the empty directories that volumes with "create" left behind: sources whose
 * last part is the ID of a container, or the day and the beginning of the ID (template.h), and into
 * which nothing was written. A directory with anything in it is never removed (rmdir(2)), and
 * neither is one with a name that somebody chose: the next container of that name gets it.
 */
#ifndef SHIM_GC_SOURCES_H
#define SHIM_GC_SOURCES_H

#include "shim/policy/policy.h"

#include <time.h>

enum { GC_SOURCES_AGE = 3600 }; /* seconds: a younger directory may be that of a launch */

struct gc_sources {
    const char **paths; /* in the arena */
    size_t count;
    const char **full; /* those that have something in them, of a dry run; they are never removed */
    size_t full_count;
};

/*
 * Removes the directories of the policy and its profiles; with `dry` only lists them. One that is
 * mounted in any mount namespace, that changed less than GC_SOURCES_AGE before `now`, or that
 * cannot be removed, stays. Directories in which others could redirect the walk are not entered.
 * Fails without memory, or if /proc cannot be read.
 */
int gc_sources(const struct policy *policy, bool dry, time_t now, struct arena *arena,
               struct gc_sources *out, struct err *err) must_check;

#endif
