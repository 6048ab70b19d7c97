/*
 * The folder in which trees of merged layers are kept, by chain (chain.h):
 *
 *     CACHE/KEY/chain        the record of the layers
 *     CACHE/KEY/tree/        what a container sees of them; missing where there is none
 *     CACHE/KEY/state.json   when it was made and how long that took, or why there is none
 *     CACHE/.build-KEY/      the same while it is made, locked by who makes it
 *     CACHE/.old-…           on its way out
 *
 * A folder gets its name when it is complete. The cache must be root's alone: what is in a tree
 * becomes the root of containers.
 */
#ifndef SHIM_RESTACK_CACHE_H
#define SHIM_RESTACK_CACHE_H

#include "base/cleanup.h"
#include "shim/restack/cache/chain.h"

#define RESTACK_CACHE "/var/lib/flatbed/restack"

struct restack_cache {
    int fd;
    char *path; /* without symlinks; owned */
};

#define RESTACK_CACHE_INIT                                                                         \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* ERR_POLICY: others than root could change it. With `make` it is made; else ENOENT. */
int restack_cache_open(const char *path, bool make, struct restack_cache *out,
                       struct err *err) must_check;
void restack_cache_close(struct restack_cache *cache);

#define _cleanup_restack_cache_ _cleanup_(restack_cache_close)

enum restack_state {
    RESTACK_MISSING,  /* nobody has looked at this chain yet, or it is time to look again */
    RESTACK_READY,    /* there is a tree */
    RESTACK_NEEDLESS, /* it would not pay, or cannot be done */
    RESTACK_FAILED,   /* it could not be done, lately */
    RESTACK_BUILDING, /* somebody is making it */
};

struct restack_entry {
    enum restack_state state;
    const char *why; /* NEEDLESS, FAILED: in words; in the arena */
    int fd;          /* READY: its folder, with a shared lock that keeps it there; owned */
};

#define RESTACK_ENTRY_INIT                                                                         \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* What there is for a chain. Does not wait. Fails only without memory. */
int restack_cache_find(const struct restack_cache *cache, const struct chain *chain,
                       struct arena *arena, struct restack_entry *out, struct err *err) must_check;

/* The folder in which it is built, made if it is missing, with a lock. -1 and ERR_LIMIT if somebody
 * else has that. */
int restack_cache_begin(const struct restack_cache *cache, const struct chain *chain,
                        struct err *err) must_check;

/* Gives what was built its name, in place of what may bear it. */
int restack_cache_publish(const struct restack_cache *cache, const struct chain *chain,
                          struct err *err) must_check;

/* Waits until nobody else builds or trims; the lock goes with the descriptor. */
int restack_cache_lock(const struct restack_cache *cache, bool wait, struct err *err) must_check;

/* Removes a folder of the cache with all that is in it; what cannot be removed stays. */
void restack_cache_remove(const struct restack_cache *cache, const char *name);

#endif
