/*
 * Squashing: an image's layers become one, written while the source is read.
 */
#ifndef FLATTEN_SQUASH_H
#define FLATTEN_SQUASH_H

#include "flatten/image.h"
#include "flatten/layer_writer.h"
#include "flatten/merged.h"
#include "flatten/sink.h"

/*
 * Writes the merged layer through the sink, up to sink_end_layer. All digests of the source have
 * been checked when this returns 0.
 */
int squash_layers(struct image *image, const struct merged_options *options,
                  const struct compress_options *compress, struct sink *sink,
                  struct written_layer *out, struct merged_report *report,
                  struct err *err) must_check;

#endif
