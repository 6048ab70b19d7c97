/*
 * Builds the tree of a chain (restack_tree.h) in the cache, or writes down why there is none: it
 * would not pay, or it cannot be done. Two passes: the first only counts.
 *
 * The limits of what pays come from docs/overlay-costs.md: with fewer than 2 lookups for a file,
 * and no more than 70 layers, one layer is not faster.
 */
#ifndef SHIM_RESTACK_BUILD_H
#define SHIM_RESTACK_BUILD_H

#include "shim/restack/cache/restack_cache.h"

struct restack_built {
    bool ready;
    const char *why; /* not ready: the reason, in the arena */
    uint64_t files, directories;
    double lookups; /* layers looked into to find a file, on average; 0: not counted */
    double seconds;
};

/* Returns true if one layer in place of `layers` is worth the work; `lookups` for a file on
 * average. Pure. */
bool restack_pays(size_t layers, double lookups);

/*
 * Builds the tree, and returns when it or the reason is written. `force`: also if it would not pay.
 * ERR_LIMIT if another process is building it.
 */
int restack_build(const struct restack_cache *cache, const struct chain *chain, bool force,
                  struct arena *arena, struct restack_built *out, struct err *err) must_check;

/*
 * Does the same in a process of its own, which outlives this one, holds none of its descriptors and
 * leaves processor and disk to others. `cache` is the path of the cache. Returns at once.
 */
int restack_build_in_background(const char *cache, const struct chain *chain,
                                struct err *err) must_check;

#endif
