/* The tar archive in a layer's blob, unpacked by the caller: for layer_blob.c and unpacker.c. */
#ifndef FLATTEN_LAYER_UNPACK_H
#define FLATTEN_LAYER_UNPACK_H

#include "flatten/image/image.h"
#include "flatten/stream/stream.h"

/* Returns the archive, within the image's budget. The caller checks its size and the diff_id. */
struct stream *layer_unpack(const struct layer *layer, struct err *err) must_check;

/* The same, unpacked in a thread; size and diff_id are checked (layer_tar, layer_blob.h). */
struct stream *layer_unpack_ahead(const struct layer *layer, struct err *err) must_check;

#endif
