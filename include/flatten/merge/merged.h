/*
 * The merged tree of an image, entry by entry: what a container sees.
 */
#ifndef FLATTEN_MERGED_H
#define FLATTEN_MERGED_H

#include "flatten/image/image.h"
#include "flatten/layer/entry_sink.h"
#include "flatten/merge/tree/merged_options.h"

/*
 * Gives the entries of the merged tree to the sink. With options->kept, these are what a layer must
 * hold that is laid over the kept ones (delta.h), whiteouts included. *report is filled anew, also
 * after a failure. Returns MERGE_DONE after all digests of the layers have been checked.
 *
 * Layers are read once, newest first (merge.h). Returns MERGE_NEEDS_INDEX where that cannot decide:
 * a path twice in one layer; the spec's semantics; kept layers. With options->indexed the headers
 * of all layers are read before the content (merge_index.h), and the result is MERGE_DONE or
 * MERGE_FAILED.
 */
enum merge_result merged_entries(const struct image *image, const struct merged_options *options,
                                 struct entry_sink *sink, struct merged_report *report,
                                 struct err *err) must_check;

#endif
