/* The entries of a cache together: a list of them, and the room that they take. */
#ifndef SHIM_STAGE_ROOM_H
#define SHIM_STAGE_ROOM_H

#include "shim/policy/policy.h"
#include "shim/stage/cache/stage_cache.h"

/* An entry, or one that is being made or failed, as it is listed. */
struct stage_item {
    char name[STAGE_NAME + 32]; /* of the directory */
    enum stage_state state;     /* READY, COPYING or MISSING, for a part that no process makes */
    bool replaced;              /* kept only while it is mounted */
    struct stage_record record; /* READY */
    time_t used, checked;       /* READY; 0: never */
    uint64_t launches;          /* READY */
    bool pinned, mounted;
    bool gone;                      /* removed since it was listed */
    struct stage_progress progress; /* COPYING */
};

struct stage_items {
    struct stage_item *list; /* in the arena; the least recently used first */
    size_t count;
};

/* Lists the cache, with the mount tables of all processes. */
int stage_list(const struct stage_cache *cache, struct arena *arena, struct stage_items *out,
               struct err *err) must_check;

/* Returns the bytes that the copies take, those that were replaced included. */
uint64_t stage_taken(const struct stage_items *items);

/* The room that a policy gives to a cache. 0: no limit. */
struct stage_limits {
    uint64_t max, per_owner;
    struct policy_free free;
};

/* A wish for room in a cache. */
struct stage_need {
    uint64_t bytes;
    uint64_t written; /* of these: what is there already, in its part */
    uid_t account;    /* the user whose share it takes */
    const char *name; /* the entry that it will replace, which counts as gone, as does its part */
};

/*
 * Removes entries until there is room, the least recently used first: of the account if its share
 * is short, else of all. Never removes what is mounted, in use, or pinned. ERR_LIMIT if there is
 * no room all the same, and the message says which limit is short: then no entry was removed, but
 * for a need of 0 bytes, for which as many are removed as may go. Interrupted copies go first.
 * *evicted: how many entries. With `dry` they are only counted.
 */
int stage_make_room(const struct stage_cache *cache, const struct stage_limits *limits,
                    const struct stage_need *need, bool dry, size_t *evicted,
                    struct err *err) must_check;

/*
 * Removes one item that no launch uses: ERR_LIMIT if it is mounted by now, or if a process holds
 * it. `item` is of stage_list.
 */
int stage_remove(const struct stage_cache *cache, const struct stage_item *item,
                 struct err *err) must_check;

/*
 * Removes what is of no use: entries that were replaced and are not mounted any more, and parts
 * older than a day that no process makes. With `dry` nothing. Returns how many.
 */
size_t stage_sweep(const struct stage_cache *cache, const struct stage_items *items, bool dry);

/* The same after a look of its own. Failures are ignored. */
void stage_tidy(const struct stage_cache *cache);

#endif
