#include "flatten/merge/merged.h"

#include "flatten/merge/merged_indexed.h"
#include "flatten/merge/merged_stream.h"
#include "flatten/merge/merged_tree.h"

enum merge_result merged_entries(const struct image *image, const struct merged_options *options,
                                 struct entry_sink *sink, struct merged_report *report,
                                 struct err *err)
{
    *report = (struct merged_report){.layers = (unsigned)image->layer_count};
    if (image->tree)
        return merged_tree(image, sink, report, err) < 0 ? MERGE_FAILED : MERGE_DONE;
    if (options->indexed)
        return merged_indexed(image, options, sink, report, err) < 0 ? MERGE_FAILED : MERGE_DONE;
    if (options->semantics != SEMANTICS_OVERLAY || options->kept)
        return MERGE_NEEDS_INDEX;
    return merged_stream(image, options, sink, report, err);
}
