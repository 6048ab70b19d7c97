/*
 * Squashing: an image's layers become one, or a few, written while the source is read; or its
 * newest layers do, and the others stay as they are.
 */
#ifndef FLATTEN_SQUASH_H
#define FLATTEN_SQUASH_H

#include "flatten/exchange/sink.h"
#include "flatten/image/image.h"
#include "flatten/layer/layer_writer.h"
#include "flatten/merge/merged.h"

struct squashed;

struct squash_options {
    struct merged_options merged; /* its `kept` says how many layers stay */
    struct compress_options compress;
    size_t into;   /* how many layers the others become, at most */
    bool readable; /* the new layers are to be read again: see struct squashed */
    /* What was written through the same sink before: its layers need not be written again. */
    const struct squashed *const *earlier; /* borrowed */
    size_t earlier_count;
};

struct squashed {
    struct written_layer *layers; /* oldest first */
    size_t *merged;               /* of each: how many layers of the source are in it */
    size_t count;
    size_t kept; /* of them, from the oldest */
    struct merged_report report;
    struct image *result; /* with options->readable: the new layers where they lie, and no more */
};

/*
 * Writes all layers through the sink, up to sink_end_layer: first those that stay, then the merged
 * ones, but for those that bring nothing to what is below. All digests of the source have been
 * checked when this returns 0. Without a sink nothing is written: out->result stays empty, and of
 * out->layers only the number is told. *out is cleared with squashed_clear, also after a failure.
 */
int squash_layers(struct image *image, const struct squash_options *options, struct sink *sink,
                  struct squashed *out, struct err *err) must_check;

void squashed_clear(struct squashed *s);

#define _cleanup_squashed_ _cleanup_(squashed_clear)

#endif
