/*
 * Reads files into the page cache, by eight threads in the order of a list, while its caller does
 * something else. Pages that are cached are not read again.
 */
#ifndef SHIM_READ_AHEAD_H
#define SHIM_READ_AHEAD_H

#include "shim/warm/record/warm_record.h"

struct read_item {
    int dir; /* borrowed: the directory beneath which the file is */
    const struct warm_file *file;
    /* The result: */
    uint64_t read, cached; /* bytes that were read, and that were cached before */
    int64_t at;            /* nanoseconds of CLOCK_MONOTONIC at which it was opened; 0: not yet */
};

struct read_ahead;

/*
 * Begins to read at most `budget` bytes. The items are in use until read_ahead_end. NULL without
 * memory or threads.
 */
struct read_ahead *read_ahead_begin(struct read_item *items, size_t count, uint64_t budget,
                                    struct err *err) must_check;

/* Returns true once nothing more is read. */
bool read_ahead_done(struct read_ahead *reading);

/* Ends the threads, after the read(2) that each is in, and frees it. NULL is allowed. */
void read_ahead_end(struct read_ahead *reading);

DEFINE_CLEANUP(read_ahead, struct read_ahead, read_ahead_end)
#define _cleanup_read_ahead_ _cleanup_(cleanup_read_ahead)

#endif
