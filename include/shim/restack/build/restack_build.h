/*
 * Makes the tree of a chain (restack_tree.h) in the cache, or writes down why there is none: it
 * would not pay, or it cannot be done. Two passes: the first only counts.
 *
 * Whether it pays is docs/overlay-costs.md's: with fewer than 2 lookups for a file, and no more
 * than 70 layers, one layer is not faster.
 */
#ifndef SHIM_RESTACK_BUILD_H
#define SHIM_RESTACK_BUILD_H

#include "shim/restack/cache/restack_cache.h"

struct restack_built {
    bool ready;
    const char *why; /* not ready: in words; in the arena */
    uint64_t files, directories;
    double lookups; /* layers looked into to find a file, on average; 0: not counted */
    double seconds;
};

/* True if one layer in place of so many is worth the work. Pure. */
bool restack_pays(size_t layers, double lookups);

/*
 * Returns when that is written down. `force`: also if it would not pay. -1 and ERR_LIMIT where
 * somebody else is making it.
 */
int restack_build(const struct restack_cache *cache, const struct chain *chain, bool force,
                  struct arena *arena, struct restack_built *out, struct err *err) must_check;

/*
 * The same in a process of its own, which outlives this one, holds none of its descriptors and
 * leaves processor and disk to everybody else. `cache` is the folder's path. Returns at once.
 */
int restack_build_apart(const char *cache, const struct chain *chain, struct err *err) must_check;

#endif
