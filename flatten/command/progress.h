/*
 * A line on a terminal that says how far the work is: share, bytes, rate, time left. Drawn five
 * times a second by a thread of its own, on standard error; where that is no terminal, nothing is.
 */
#ifndef FLATTEN_PROGRESS_H
#define FLATTEN_PROGRESS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress;

/* Starts it; `total` is in bytes. Unless `wanted`, it only counts. */
struct progress *progress_new(bool wanted, uint64_t total, struct err *err) must_check;
/* Takes the line away. */
void progress_free(struct progress *p);

DEFINE_CLEANUP(progress, struct progress, progress_free)
#define _cleanup_progress_ _cleanup_(cleanup_progress)

/* To be added to as bytes are read, by any thread. */
_Atomic uint64_t *progress_counter(struct progress *p);

/* Takes the line away until it is drawn next: something else is to be said. */
void progress_hide(struct progress *p);

/* What the line says after so many seconds. Pure. */
void progress_line(uint64_t done, uint64_t total, double seconds, struct buf *out);

#endif
