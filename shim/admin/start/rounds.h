/* The rounds of a measurement: each root and state once in each, so that noise meets all alike. */
#ifndef SHIM_START_ROUNDS_H
#define SHIM_START_ROUNDS_H

#include "shim/admin/start/start.h"

/*
 * Measures everything in `dir`, which is removed by the caller; in the child. `alive` is a pipe
 * that is closed at its other end to end it.
 */
int rounds_measure(const struct start_options *options, const char *dir, int alive,
                   struct start_result *out, struct err *err) must_check;

#endif
