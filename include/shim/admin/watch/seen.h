/*
 * The calls that were seen, by directory and by program. A fixed number of each is kept by name, in
 * the order in which they came; the others are counted together. Pure.
 */
#ifndef SHIM_WATCH_SEEN_H
#define SHIM_WATCH_SEEN_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/admin/watch/trace/record.h"

#include <stdbool.h>
#include <stddef.h>

enum { SEEN_DIRECTORIES = 4096, SEEN_PROGRAMS = 256 };

struct seen_counts {
    uint64_t calls[WATCH_CALLS];
    uint64_t lookups; /* all calls */
    uint64_t misses;  /* of these, there was no such name */
};

struct seen_entry {
    char *name; /* owned */
    struct seen_counts counts;
    unsigned layers; /* that hold the directory; 0: none, or not known (depth.h) */
};

struct seen_table {
    struct seen_entry *list;
    uint32_t *slots; /* the index in the list, plus one */
    size_t count, most, slot_count;
    struct seen_counts other;
};

struct seen {
    struct seen_table directories, programs;
    struct seen_counts all;
};

/* Returns an empty one. */
int seen_begin(struct seen *out, struct err *err) must_check;

/* Counts a call: `result` is negative if it failed, -errno. */
void seen_add(struct seen *seen, const char *directory, const char *program, enum watch_call call,
              int64_t result);

/*
 * Lists the `most` entries with the most lookups, or with the most misses, in that order; those
 * without a miss are left out then. Returns how many.
 */
size_t seen_top(struct seen_table *table, bool misses, struct seen_entry *out[], size_t most);

/* Frees it. */
void seen_free(struct seen *seen);

#define _cleanup_seen_ _cleanup_(seen_free)

#endif
