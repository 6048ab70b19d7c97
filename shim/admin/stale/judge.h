/* Names that engines know, and what follows for a directory. Pure. */
#ifndef SHIM_STALE_JUDGE_H
#define SHIM_STALE_JUDGE_H

#include "base/arena.h"
#include "shim/admin/stale/stale.h"

/* Names, in an arena of their own. */
struct known {
    struct arena arena;
    const char **list;
    size_t count;
    bool failed; /* without memory */
    bool sorted;
};

/* Adds a name. */
void known_add(struct known *known, const char *name, size_t len);

/* Returns true for a name that was added. Sorts the names if that is due. */
bool known_has(struct known *known, const char *name);

void known_free(struct known *known);

#define _cleanup_known_ _cleanup_(known_free)

/*
 * Returns true for a name that the engine gives to a layer or a container: 64 hexadecimal digits;
 * of Docker also with "-init", and the 25 letters and digits of BuildKit's.
 */
bool stale_is_layer(enum stale_engine engine, const char *name);

/* Returns true for STALE_PREFIX and such a name. */
bool stale_is_remains(enum stale_engine engine, const char *name);

/* Returns true if the target of a link in "l" is "../NAME/diff"; *len is the length of NAME. */
bool stale_link_target(const char *target, const char **name, size_t *len);

/* The facts about a directory by which it is judged. */
struct stale_facts {
    bool known;   /* the engine's state names it */
    bool cached;  /* BuildKit's does */
    bool mounted; /* a mount does */
};

/* Returns why nobody needs the directory, or NULL for one that stays. */
const char *stale_judge(enum stale_engine engine, const struct stale_facts *facts);

/*
 * Returns why a directory of that age, in seconds, may not be removed, or NULL. `alone`: the
 * engine's locks are held, or it is not running; else it may be making the directory.
 */
const char *stale_refuse(const struct stale_limits *limits, int64_t changed, bool alone);

#endif
