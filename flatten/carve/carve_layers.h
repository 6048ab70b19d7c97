/* Writes all layers of a plan, several at the same time. */
#ifndef FLATTEN_CARVE_LAYERS_H
#define FLATTEN_CARVE_LAYERS_H

#include "flatten/carve/carve_write.h"
#include "flatten/squash/squashed.h"

/*
 * Writes the layers of the plan through the sink, and appends them to out->layers. As many as the
 * processors and the sink (sink_begin_beside) allow are compressed at the same time; their bytes do
 * not depend on that. Of the options, compress, readable, earlier and merged.max_size count.
 */
int carve_put_layers(const struct carve_plan *plan, const struct squash_options *options,
                     struct sink *sink, struct squashed *out, struct err *err) must_check;

#endif
