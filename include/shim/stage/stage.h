/*
 * Staged volumes: a launch mounts the copy of a slow source from a local disk instead of the
 * source, or has a copy made for the next one. What a source in a registry has is fetched to the
 * same place, and there is nothing to mount before it is there.
 */
#ifndef SHIM_STAGE_H
#define SHIM_STAGE_H

#include "shim/host/users/as_user.h"
#include "shim/policy/policy.h"
#include "shim/stage/cache/stage_cache.h"

/* A source that may be staged. Texts are borrowed until stage_end. */
struct stage_wanted {
    const struct policy_stage *rules;
    const char *path;            /* without symbolic links, or in a registry */
    struct stage_root root;      /* the source as it is now; zeroed in a registry */
    const struct user_ids *user; /* of the container; NULL: not known, or not needed */
    unsigned wish;               /* a bit of enum stage_wish, which the class allows; or 0 */
    const char *metrics;         /* the file in which a copier counts, or NULL */
    bool again;                  /* a failure that is not long ago is no reason not to try */
};

struct stage_offer {
    struct stage_entry entry; /* READY: holds the copy until stage_offer_close */
    const char *tree;         /* READY: the path of the copy when it was looked up; in the arena */
    const char *note;         /* how it stands, as part of a sentence; never NULL */
    bool off;                 /* the container does without */
    bool closed;              /* the source lies in the cache: no container may have it */
    uint64_t waited;          /* milliseconds */
};

/* Returns the word for how it stands: "hit", "copying", "failed", "off", "miss", "stale". Static.
 */
const char *stage_word(const struct stage_offer *offer);

/* Releases the copy. A mounted one stays where it is. */
void stage_offer_close(struct stage_offer *offer);

/* Looks what there is, and changes nothing. Fails only without memory. */
int stage_look(const struct stage_wanted *wanted, struct arena *arena, struct stage_offer *out,
               struct err *err) must_check;

/*
 * Looks, and has the source copied in the background if there is no copy, or if it was not compared
 * with the source for long. `source` is the open directory, or -1 in a registry. Does not wait.
 * Fails only without memory: a cache that cannot be used is said in the note.
 */
int stage_begin(const struct stage_wanted *wanted, int source, struct arena *arena,
                struct stage_offer *out, struct err *err) must_check;

/*
 * Waits for a copy that is being made, as long as rules and wish say, and says how it stands then.
 * `source` as for stage_begin. ERR_POLICY: there is none, and the policy wants no other start, or
 * the source is in a registry.
 */
int stage_end(const struct stage_wanted *wanted, int source, struct arena *arena,
              struct stage_offer *offer, struct err *err) must_check;

/* Returns true if a launch would be refused, as there is no copy and it would wait for none. */
bool stage_denies(const struct stage_wanted *wanted, const struct stage_offer *offer);

#endif
