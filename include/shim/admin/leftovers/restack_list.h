/*
 * The list of the trees in the cache of restack_cache.h, and which may be removed: trees whose
 * layers are gone or changed, so that no container can use them; those that were not used for long;
 * and then the least recently used ones until the rest has room. A tree that is a layer of a mount,
 * in any process's mount namespace, stays.
 */
#ifndef SHIM_RESTACK_LIST_H
#define SHIM_RESTACK_LIST_H

#include "base/json/json.h"
#include "shim/restack/cache/restack_cache.h"

struct restack_item {
    char key[CHAIN_KEY];
    const char *state; /* "ready", "skipped", "failed", "building" */
    const char *why;   /* or NULL */
    const char *layer; /* the topmost layer; "" while it is built */
    uint64_t layers, files, made;
    const char *lookups; /* a number as text, or NULL */
    uint64_t bytes;      /* bytes on disk; of a linked file each link counts its part */
    int64_t used;        /* seconds since 1970 */
    bool mounted;        /* it is part of a mount */
    bool current;        /* its layers exist, unchanged */
    const char *leaves;  /* the reason to remove it; NULL: it stays */
};

struct restack_list {
    struct restack_item *items;
    size_t count;
};

/* Lists the trees, the last used first. Everything is in the arena. Needs root. */
int restack_list_read(const struct restack_cache *cache, struct arena *arena,
                      struct restack_list *out, struct err *err) must_check;

struct restack_limits {
    uint64_t bytes;  /* of all trees that stay; UINT64_MAX: no limit */
    int64_t seconds; /* since it was used */
    int64_t now;
};

/* Sets `leaves` of each item. Pure. */
void restack_list_judge(struct restack_list *list, const struct restack_limits *limits);

/*
 * Removes the trees with `leaves`, and what killed builds left. Clears `leaves` of a tree that is
 * in use by now, and of all on failure; ERR_LIMIT: a tree is being made.
 */
int restack_list_trim(const struct restack_cache *cache, struct restack_list *list,
                      struct err *err) must_check;

#endif
