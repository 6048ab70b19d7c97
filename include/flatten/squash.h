/*
 * Squashing: an image's layers become one, written while the source is read; or its newest layers
 * do, and the others stay as they are.
 */
#ifndef FLATTEN_SQUASH_H
#define FLATTEN_SQUASH_H

#include "flatten/image.h"
#include "flatten/layer_writer.h"
#include "flatten/merged.h"
#include "flatten/sink.h"

struct squashed {
    struct written_layer *layers; /* oldest first */
    size_t count;
    size_t kept;  /* of them, from the oldest */
    bool indexed; /* how the merge was done */
    struct merged_report report;
    struct image *result; /* the new layers where they lie, without config and manifest */
};

/*
 * Writes all layers through the sink, up to sink_end_layer: options->kept as they are, and the
 * merged one, unless it would bring nothing to them. All digests of the source have been checked
 * when this returns 0. *out is cleared with squashed_clear, also after a failure.
 */
int squash_layers(const struct image *image, const struct merged_options *options,
                  const struct compress_options *compress, struct sink *sink, struct squashed *out,
                  struct err *err) must_check;

void squashed_clear(struct squashed *s);

#define _cleanup_squashed_ _cleanup_(squashed_clear)

/* What squash_layers would do, written nowhere: out->layers and out->result stay empty. */
int squash_rehearse(const struct image *image, const struct merged_options *options,
                    struct squashed *out, struct err *err) must_check;

#endif
