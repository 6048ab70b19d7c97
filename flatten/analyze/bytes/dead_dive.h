/* The figures of dive (github.com/wagoodman/dive, image efficiency). */
#ifndef FLATTEN_DEAD_DIVE_H
#define FLATTEN_DEAD_DIVE_H

#include "flatten/analyze/bytes/dead.h"

/* Fills out->efficiency and out->wasted_bytes, for dead_sum. */
void dead_dive(const struct layer_stack *s, struct dead_report *out);

#endif
