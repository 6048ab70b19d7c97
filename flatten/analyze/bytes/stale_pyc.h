/* Compiled Python (.pyc) that its source has outrun: the part of duplicates.h that reads .pyc
 * headers. */
#ifndef FLATTEN_STALE_PYC_H
#define FLATTEN_STALE_PYC_H

#include "flatten/analyze/bytes/duplicates.h"

/*
 * Marks in `wanted` (by inode) what is needed of visible .pyc files and their sources: head and
 * time (contents.h). `floors`: as layer_stack_floors made them.
 */
int stale_pyc_want(const struct layer_stack *s, const uint16_t *floors, uint8_t *wanted,
                   struct err *err) must_check;

/* Counts the .pyc files that do not match their sources, from the contents that were read. */
int stale_pyc_find(const struct duplicate_image *image, const uint16_t *floors,
                   struct stale_report *out, struct err *err) must_check;

#endif
