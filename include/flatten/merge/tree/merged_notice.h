/* Notices of what a merge found (merged_options.h). */
#ifndef FLATTEN_MERGED_NOTICE_H
#define FLATTEN_MERGED_NOTICE_H

#include "flatten/layer/layer.h"
#include "flatten/merge/tree/merged_options.h"

/*
 * Counts an entry's divergence (a DIVERGENCE_, or NULL) and what it lost, and gives notice of both.
 */
void merged_notice_entry(const struct merged_options *options, struct merged_report *report,
                         const struct layer *layer, const struct layer_entry *entry,
                         const char *divergence);

#endif
