/*
 * Opens on the mount of a container's root, by fanotify(7): where programs of BPF are refused.
 * Names that are missing, and stat(2), are not seen.
 */
#ifndef SHIM_WATCH_MARKS_H
#define SHIM_WATCH_MARKS_H

#include "shim/admin/watch/target.h"
#include "shim/admin/watch/trace/tracer.h"

/* Returns a descriptor to poll and read; -1: ERR_UNSUPPORTED. */
int marks_open(const struct target *target, struct err *err) must_check;

/* Passes on the opens that are there, as records with absolute names. Adds those lost to *lost. */
void marks_read(int fd, const struct target *target, tracer_taker *take, void *ctx, uint64_t *lost);

#endif
