/* Merges an image by way of an index. For merged_entries alone. */
#ifndef FLATTEN_MERGED_INDEXED_H
#define FLATTEN_MERGED_INDEXED_H

#include "flatten/image/image.h"
#include "flatten/layer/entry_sink.h"
#include "flatten/merge/tree/merged_options.h"

/* As merged_entries with options->indexed. Adds to *report. Returns 0 or -1. */
int merged_indexed(const struct image *image, const struct merged_options *options,
                   struct entry_sink *sink, struct merged_report *report,
                   struct err *err) must_check;

#endif
