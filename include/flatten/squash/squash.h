/*
 * Squashing: merges all layers of an image, or its newest ones, into one or a few new layers, which
 * are written while the source is read. The other layers stay as they are.
 */
#ifndef FLATTEN_SQUASH_H
#define FLATTEN_SQUASH_H

#include "flatten/exchange/sink.h"
#include "flatten/image/image.h"
#include "flatten/squash/squashed.h"

/*
 * Writes all layers through the sink, up to sink_end_layer: first those that stay, then the merged
 * ones. An empty layer is not written, unless it would be the only one. All digests of the source
 * have been checked when this returns 0. With sink NULL nothing is written: out->result stays
 * empty, and out->layers only has a count. The caller clears *out with squashed_clear, also after a
 * failure.
 */
int squash_layers(struct image *image, const struct squash_options *options, struct sink *sink,
                  struct squashed *out, struct err *err) must_check;

#endif
