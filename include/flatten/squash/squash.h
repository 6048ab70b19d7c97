/*
 * Squashing: merges all layers of an image, or its newest ones, into one or a few new layers, which
 * are written while the source is read. The other layers stay as they are.
 */
#ifndef FLATTEN_SQUASH_H
#define FLATTEN_SQUASH_H

#include "flatten/exchange/sink.h"
#include "flatten/image/image.h"
#include "flatten/layer/layer_writer.h"
#include "flatten/merge/merged.h"

struct squashed;

struct squash_options {
    struct merged_options merged; /* merged.kept: how many layers stay */
    struct compress_options compress;
    size_t into;   /* how many new layers to make, at most */
    bool readable; /* fill squashed.result */
    bool alone;    /* no other image is published with this one */
    /* Images written through the same sink before: equal layers are not written again. */
    const struct squashed *const *earlier; /* borrowed */
    size_t earlier_count;
};

struct squashed {
    struct written_layer *layers; /* oldest first */
    size_t *merged;               /* by layer: how many layers of the source are in it */
    size_t count;
    size_t kept; /* the oldest `kept` of them are the source's */
    struct merged_report report;
    struct image *result; /* with options->readable: the layers as written; it has no config */
};

/*
 * Writes all layers through the sink, up to sink_end_layer: first those that stay, then the merged
 * ones. An empty layer is not written, unless it would be the only one. All digests of the source
 * have been checked when this returns 0. With sink NULL nothing is written: out->result stays
 * empty, and out->layers only has a count. The caller clears *out with squashed_clear, also after a
 * failure.
 */
int squash_layers(struct image *image, const struct squash_options *options, struct sink *sink,
                  struct squashed *out, struct err *err) must_check;

/* Frees what it owns, which is not what the sink has, and zeroes it. */
void squashed_clear(struct squashed *s);

#define _cleanup_squashed_ _cleanup_(squashed_clear)

#endif
