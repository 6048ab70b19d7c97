/* Merges an image in one pass, newest layer first. For merged_entries alone. */
#ifndef FLATTEN_MERGED_STREAM_H
#define FLATTEN_MERGED_STREAM_H

#include "flatten/image/image.h"
#include "flatten/layer/entry_sink.h"
#include "flatten/merge/tree/merged_options.h"

/* As merged_entries without options->indexed. Adds to *report. */
enum merge_result merged_stream(const struct image *image, const struct merged_options *options,
                                struct entry_sink *sink, struct merged_report *report,
                                struct err *err) must_check;

#endif
