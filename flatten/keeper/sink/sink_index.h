/* index.json of a layout of new images (image-spec image-layout.md). */
#ifndef FLATTEN_SINK_INDEX_H
#define FLATTEN_SINK_INDEX_H

#include "base/buf.h"
#include "flatten/exchange/sink.h"

/* Appends the index: it names those of the images that are not inner. */
int sink_index_json(const struct sink_image *images, size_t count, struct buf *out,
                    struct err *err) must_check;

#endif
