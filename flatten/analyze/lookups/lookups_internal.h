/* Shared by lookups.c (paths and directories) and lookup_import.c (Python's imports). */
#ifndef FLATTEN_LOOKUPS_INTERNAL_H
#define FLATTEN_LOOKUPS_INTERNAL_H

#include "flatten/analyze/lookups/lookups.h"

/*
 * Returns how many layers of the mount hold the directory, from the newest down to `floor`. All
 * layers above the `kept` oldest count as one.
 */
unsigned lookups_layers(const struct layer_stack *s, uint32_t node, unsigned floor, unsigned kept);

/* Returns how many layers a lookup of the visible path looks into: at least 1. */
unsigned lookups_probes(const struct layer_stack *s, const uint16_t *floors,
                        const struct stack_record *visible, unsigned kept);

/* Counts the lookups of importing every Python module once. */
int lookups_import(const struct layer_stack *s, const uint16_t *floors, unsigned kept,
                   struct lookup_import *out, struct err *err) must_check;

#endif
