#include "flatten/unpack/unpack.h"

#include "flatten/squash/reading.h"
#include "flatten/unpack/tree_sink.h"

/* Sends the entries. A tree that one pass cannot decide is taken back, and sent by the index. */
static int send_entries(const struct image *image, const struct squash_options *options,
                        struct tree_sink *sink, struct merged_report *report, struct err *err)
{
    struct merged_options merged = options->merged;
    enum merge_result result = merged_entries(image, &merged, &sink->base, report, err);

    if (result == MERGE_NEEDS_INDEX) {
        merged.indexed = true;
        merged.told = report->conflict;
        if (tree_sink_restart(sink, err) < 0)
            return -1;
        result = merged_entries(image, &merged, &sink->base, report, err);
    }
    return result == MERGE_DONE ? 0 : -1;
}

int unpack_image(struct image *image, const struct squash_options *options, int pipe,
                 struct merged_report *report, struct err *err)
{
    _cleanup_reading_ struct reading reading = {.image = image};
    _cleanup_tree_sink_ struct tree_sink sink;

    tree_sink_init(&sink, pipe);
    if (reading_begin(&reading, image, options, err) < 0)
        return -1;
    if (send_entries(image, options, &sink, report, err) < 0) {
        verifier_explain(reading.verifier, err);
        return -1;
    }
    return verifier_finish(reading.verifier, err) < 0 ? -1 : tree_sink_end(&sink, err);
}
