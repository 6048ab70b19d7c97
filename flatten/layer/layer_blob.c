#include "flatten/layer/layer_blob.h"

#include "flatten/layer/layer_unpack.h"
#include "flatten/layer/unpacker.h"

#include <string.h>

/* The layers of an image stay where they are as long as streams of them. */
static int await_layer(void *ctx, uint64_t bytes, struct err *err)
{
    return arrival_await(&((const struct layer *)ctx)->arriving, bytes, err);
}

int layer_await(const struct layer *layer, uint64_t bytes, struct err *err)
{
    return arrival_await(&layer->arriving, bytes, err) < 0
               ? err_wrap(err, "layer %u", layer->number)
               : 0;
}

struct stream *layer_range(const struct layer *layer, uint64_t length, struct err *err)
{
    struct stream *s = stream_range(layer->fd, layer->offset, length, err);

    if (s && layer->arriving.all)
        stream_range_await(s, await_layer, (void *)(uintptr_t)layer);
    return s;
}

int layer_compression(const struct layer *layer, enum compression *kind, struct err *err)
{
    enum { MAGIC = 4 };
    uint64_t size = layer->size < MAGIC ? layer->size : MAGIC;
    struct stream *raw = layer_range(layer, size, err);
    _cleanup_stream_ struct stream *s = raw ? stream_decompress(raw, kind, err) : NULL;

    return s ? 0 : -1;
}

int layer_is_packed(const struct layer *layer, bool *packed, struct err *err)
{
    const char *type = layer->media_type;
    enum compression kind;

    *packed = true;
    if (layer->arriving.all && type && (strstr(type, "gzip") || strstr(type, "zstd")))
        return 0;
    if (layer_compression(layer, &kind, err) < 0)
        return -1;
    *packed = kind != COMPRESSION_NONE;
    return 0;
}

/* Blobs that a verifier checks are not checked here as well. */
struct stream *layer_blob(const struct layer *layer, struct err *err)
{
    struct stream *s = layer_range(layer, layer->size, err);
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
    struct stream *s = layer_range(layer, layer->size, err);
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
