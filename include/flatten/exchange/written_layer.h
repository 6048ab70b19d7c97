/* A layer of a new image, as it was written: the reader makes it, a sink takes it. */
#ifndef FLATTEN_WRITTEN_LAYER_H
#define FLATTEN_WRITTEN_LAYER_H

#include "base/cleanup.h"
#include "base/digest/sha256.h"
#include "flatten/stream/stream.h"

#include <stdint.h>

struct written_layer {
    struct digest diff_id; /* of the tar archive */
    struct digest digest;  /* of the blob */
    uint64_t size;         /* of the blob, bytes */
    uint64_t tar_size;     /* of the archive, bytes; 0: not known */
    enum compression kind;
};

/* Returns the media type that the descriptor of the layer has (image-spec layer.md). */
const char *written_layer_media_type(const struct written_layer *layer) must_check;

#endif
