/*
 * A progress line on the terminal: share, bytes, rate, time left. A thread draws it five times a
 * second on standard error, unless that is no terminal.
 */
#ifndef FLATTEN_PROGRESS_H
#define FLATTEN_PROGRESS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress;

/* Starts the thread; without `wanted`, bytes are only counted. `total`: bytes. NULL on failure. */
struct progress *progress_new(bool wanted, uint64_t total, struct err *err) must_check;

/* Stops the thread and erases the line. */
void progress_free(struct progress *p);

DEFINE_CLEANUP(progress, struct progress, progress_free)
#define _cleanup_progress_ _cleanup_(cleanup_progress)

/* Returns the counter of bytes, to which any thread may add. It lives as long as `p`. */
_Atomic uint64_t *progress_counter(struct progress *p);

/* Erases the line until it is drawn next, for another message. */
void progress_hide(struct progress *p);

/* Appends the text of the line after `seconds`. Pure. */
void progress_line(uint64_t done, uint64_t total, double seconds, struct buf *out);

#endif
