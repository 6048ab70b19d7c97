#include "flatten/layer/layer_blob.h"

#include "flatten/layer/layer_unpack.h"
#include "flatten/layer/unpacker.h"

int layer_compression(const struct layer *layer, enum compression *kind, struct err *err)
{
    enum { MAGIC = 4 };
    uint64_t size = layer->size < MAGIC ? layer->size : MAGIC;
    struct stream *raw = stream_range(layer->fd, layer->offset, size, err);
    _cleanup_stream_ struct stream *s = raw ? stream_decompress(raw, kind, err) : NULL;

    return s ? 0 : -1;
}

/* Blobs that a verifier checks are not checked here as well. */
struct stream *layer_blob(const struct layer *layer, struct err *err)
{
    struct stream *s = stream_range(layer->fd, layer->offset, layer->size, err);
    char what[32];

    if (s && layer->progress)
        s = stream_count(s, layer->progress, err);
    if (!s || !layer->digest.text[0] || layer->verifier)
        return s;
    snprintf(what, sizeof(what), "layer %u", layer->number);
    return stream_verify(s, &layer->digest, what, layer->hasher, err);
}

struct stream *layer_unpack(const struct layer *layer, struct err *err)
{
    struct stream *s = layer_blob(layer, err);

    if (s)
        s = stream_unpack(s, layer->unpack, NULL, err);
    if (!s)
        err_wrap(err, "layer %u", layer->number);
    return s;
}

struct stream *layer_unpack_ahead(const struct layer *layer, struct err *err)
{
    struct stream *s = layer_unpack(layer, err);
    char what[48];

    if (!s)
        return NULL;
    snprintf(what, sizeof(what), "layer %u, uncompressed", layer->number);
    struct ahead_options options = {
        .expected = layer->diff_id,
        .what = what,
        .max_size = layer->max_size,
        .hasher = layer->hasher,
    };
    return stream_verify_ahead(s, &options, err);
}

struct stream *layer_tar(const struct layer *layer, struct err *err)
{
    struct stream *s = NULL;

    if (layer->unpacker && unpacker_open(layer->unpacker, layer, &s, err) < 0)
        return NULL;
    return s ? s : layer_unpack_ahead(layer, err);
}

struct stream *layer_tar_unchecked(const struct layer *layer, enum compression *kind,
                                   struct err *err)
{
    struct stream *s = stream_range(layer->fd, layer->offset, layer->size, err);
    bool found = s && layer_compression(layer, kind, err) == 0;

    if (s && !found) {
        stream_free(s);
        s = NULL;
    }
    if (s && *kind != COMPRESSION_NONE)
        s = stream_unpack(s, layer->unpack, NULL, err);
    else if (s && layer->unpack) /* only holes are larger than what they are read from */
        atomic_fetch_add(&layer->unpack->in, layer->size);
    if (!s)
        err_wrap(err, "layer %u", layer->number);
    return s;
}
