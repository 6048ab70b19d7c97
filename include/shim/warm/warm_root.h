/*
 * A place in use: its directories, and its record, which is locked. What is read ahead of it, what
 * a session saw of it, and what becomes of the record.
 */
#ifndef SHIM_WARM_ROOT_H
#define SHIM_WARM_ROOT_H

#include "shim/warm/read/read_ahead.h"
#include "shim/warm/record/warm_store.h"

struct warm_session; /* shim/warm/warm_session.h */

struct warm_root {
    struct warm_place place;
    uint32_t part; /* of the session */
    int locked;    /* of the store; -1: another process has it */
    bool known;    /* there is a record */
    bool records;  /* a new one is made */
    struct warm_record record;
    int *dirs; /* of the place, open */
    size_t dir_count;
    struct read_item *items; /* what is read ahead; none: nothing */
    size_t item_count;
};

/*
 * Locks the record of a place and reads it. A record that cannot be read counts as none;
 * *unreadable says why then. With a lock that another process has, nothing is known.
 */
int warm_root_open(const struct warm_store *store, const struct warm_place *place,
                   struct arena *arena, struct warm_root *out, struct err *unreadable,
                   struct err *err) must_check;

/* Prepares the items of a root whose record is known and not off. */
int warm_root_plan(struct warm_root *root, struct arena *arena, struct err *err) must_check;

/*
 * Returns the share of the disk reads, in per cent, that reading ahead spared the container: bytes
 * that were read for files that it opened, of these and those that it had to read itself. -1: there
 * was nothing to spare, as 95 % were cached.
 */
int warm_root_gain(const struct warm_root *root, const struct warm_session *session);

/*
 * Makes the record of what a session saw, in place of the one that is known. `ended`: the container
 * was gone before the time was over. Returns false if the old one is better.
 */
int warm_root_record(struct warm_root *root, const struct warm_session *session, bool ended,
                     struct arena *arena, bool *better, struct err *err) must_check;

/* Unlocks it. A directory in which nothing was written is removed. */
void warm_root_close(struct warm_root *root, const struct warm_store *store);

#endif
