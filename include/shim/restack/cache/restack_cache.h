/*
 * The directory in which trees of merged layers are kept, by chain (chain.h):
 *
 *     CACHE/KEY/chain        the record of the layers
 *     CACHE/KEY/tree/        the files that a container sees of them; missing if there is no tree
 *     CACHE/KEY/state.json   when it was made and how long that took, or why there is none
 *     CACHE/.build-KEY/      the same while it is made, locked by the process that makes it
 *     CACHE/.old-…           to be removed
 *
 * A directory gets its final name when it is complete. The cache must be owned by root and closed
 * to others: a tree becomes the root of containers.
 */
#ifndef SHIM_RESTACK_CACHE_H
#define SHIM_RESTACK_CACHE_H

#include "base/cleanup.h"
#include "shim/restack/cache/chain.h"

#define RESTACK_CACHE "/var/lib/flatbed/restack"

struct restack_cache {
    int fd;
    char *path; /* without symbolic links; owned */
};

#define RESTACK_CACHE_INIT                                                                         \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/*
 * Opens the cache; the caller closes it. ERR_POLICY: users other than root could change or read it.
 * A missing one is made if `make` is true, else it is ERR_SYSTEM with ENOENT.
 */
int restack_cache_open(const char *path, bool make, struct restack_cache *out,
                       struct err *err) must_check;

/* Closes the descriptor, and frees the path. */
void restack_cache_close(struct restack_cache *cache);

#define _cleanup_restack_cache_ _cleanup_(restack_cache_close)

enum restack_state {
    RESTACK_MISSING,  /* the chain was not looked at yet, or it is time to try again */
    RESTACK_READY,    /* there is a tree */
    RESTACK_NEEDLESS, /* it would not pay, or cannot be done */
    RESTACK_FAILED,   /* it failed within the last hour */
    RESTACK_BUILDING, /* a process is making it */
};

struct restack_entry {
    enum restack_state state;
    const char *why; /* NEEDLESS, FAILED: the reason, in the arena */
    int fd;          /* READY: its directory, with a shared lock that keeps it there; owned */
};

#define RESTACK_ENTRY_INIT                                                                         \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Looks up what there is for a chain. Does not wait. Fails only without memory. */
int restack_cache_find(const struct restack_cache *cache, const struct chain *chain,
                       struct arena *arena, struct restack_entry *out, struct err *err) must_check;

/*
 * Returns a locked descriptor of the directory in which the tree is built, made if it is missing;
 * the caller closes it. -1 and ERR_LIMIT if another process has the lock.
 */
int restack_cache_begin(const struct restack_cache *cache, const struct chain *chain,
                        struct err *err) must_check;

/* Gives the finished directory its name, in place of an older one. */
int restack_cache_publish(const struct restack_cache *cache, const struct chain *chain,
                          struct err *err) must_check;

/*
 * Returns a descriptor with the lock of the cache: no other process builds or removes trees until
 * it is closed. `wait`: waits for the lock; else it is ERR_LIMIT if another process has it.
 */
int restack_cache_lock(const struct restack_cache *cache, bool wait, struct err *err) must_check;

/* Removes a directory of the cache with all that is in it (tree_remove). */
void restack_cache_remove(const struct restack_cache *cache, const char *name);

#endif
