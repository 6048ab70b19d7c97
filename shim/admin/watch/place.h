/*
 * The paths that tasks use, as the container sees them: absolute and clean, without looking at
 * symbolic links. A relative name is joined to the directory of its descriptor, or the working
 * directory: calls that open, copy and change these are followed, and the first time /proc tells.
 */
#ifndef SHIM_WATCH_PLACE_H
#define SHIM_WATCH_PLACE_H

#include "base/buf.h"
#include "shim/admin/watch/trace/record.h"

#define PLACE_UNKNOWN "(unknown)"

enum { PLACES_KEPT = 8192 };

struct place_kept {
    uint32_t pid;
    int32_t fd; /* AT_FDCWD: the working directory */
    char *path; /* owned; NULL: not known */
};

struct places {
    const char *prefix; /* of the container's root in links of /proc; "" mostly */
    struct place_kept kept[PLACES_KEPT];
};

/*
 * Writes the path that the record names to `out`, which is emptied before: PLACE_UNKNOWN if its
 * process has ended, or without memory.
 */
void place_of(struct places *places, const struct watch_record *record, struct buf *out);

/* Takes note of what the call changed: `path` is that of its record, if it has a name. */
void place_follow(struct places *places, const struct watch_record *record, const char *path);

/* Joins a base, NULL if it is not known, and a name. Pure. */
void place_join(const char *base, const char *name, struct buf *out);

/* Takes the last part off a path. Pure. */
void place_up(struct buf *path);

/* Returns the path without the prefix; NULL if it does not begin with it. Pure. */
const char *place_within(const char *path, const char *prefix);

/* Frees what is kept. */
void places_free(struct places *places);

#endif
