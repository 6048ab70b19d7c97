#include "flatten/exchange/written_layer.h"

#include "flatten/name/media_type.h"

const char *written_layer_media_type(const struct written_layer *layer)
{
    switch (layer->kind) {
    case COMPRESSION_GZIP:
        return MEDIA_TYPE_LAYER_GZIP;
    case COMPRESSION_ZSTD:
        return MEDIA_TYPE_LAYER_ZSTD;
    case COMPRESSION_NONE:
        break;
    }
    return MEDIA_TYPE_LAYER;
}
