#include "flatten/stream/stream_internal.h"

#include <stdbool.h>
#include <string.h>
#include <zstd.h>

/* The largest window that a frame may ask for: 128 MiB, the default of `zstd -d`. */
enum { WINDOW_LOG_LIMIT = 27, UNZSTD_BUFFER = 512 * 1024 };

struct zstd_stream {
    struct stream base;
    struct stream *inner;
    ZSTD_DCtx *ctx;
    bool in_frame; /* a frame has begun and not ended */
    bool ended;
    size_t at, len;
    unsigned char out[UNZSTD_BUFFER];
};

/* Writes up to `size` bytes to `to`. *made: how many. */
static int decompress_some(struct zstd_stream *z, void *to, size_t size, size_t *made,
                           struct err *err)
{
    const void *data;
    size_t len;

    if (stream_peek(z->inner, &data, &len, err) < 0)
        return -1;
    ZSTD_inBuffer in = {.src = data, .size = len};
    ZSTD_outBuffer out = {.dst = to, .size = size};
    if (len == 0 && !z->in_frame) {
        z->ended = true;
        return 0;
    }
    /* Without input the decoder gives what it still holds; after that, the frame is truncated. */
    size_t hint = ZSTD_decompressStream(z->ctx, &out, &in);
    if (ZSTD_isError(hint))
        return err_set(err, ERR_FORMAT, "zstd: %s", ZSTD_getErrorName(hint));
    stream_advance(z->inner, in.pos);
    z->in_frame = hint != 0;
    *made = out.pos;
    if (len == 0 && out.pos == 0 && z->in_frame)
        return err_set(err, ERR_FORMAT, "zstd: the data ends too early");
    return 0;
}

/* Writes the next bytes, up to `size`. *made is 0 only at the end. */
static int decompress_next(struct zstd_stream *z, void *to, size_t size, size_t *made,
                           struct err *err)
{
    *made = 0;
    while (*made == 0 && !z->ended)
        if (decompress_some(z, to, size, made, err) < 0)
            return -1;
    return 0;
}

static int zstd_peek(struct stream *s, const void **data, size_t *len, struct err *err)
{
    struct zstd_stream *z = (struct zstd_stream *)s;

    if (z->at == z->len) {
        z->at = z->len = 0;
        if (decompress_next(z, z->out, sizeof(z->out), &z->len, err) < 0)
            return -1;
    }
    *data = z->out + z->at;
    *len = z->len - z->at;
    return 0;
}

static int zstd_read(struct stream *s, void *to, size_t size, size_t *len, struct err *err)
{
    struct zstd_stream *z = (struct zstd_stream *)s;
    size_t held = z->len - z->at;

    if (held == 0)
        return decompress_next(z, to, size, len, err);
    *len = held < size ? held : size;
    memcpy(to, z->out + z->at, *len);
    z->at += *len;
    return 0;
}

static void zstd_advance(struct stream *s, size_t len)
{
    ((struct zstd_stream *)s)->at += len;
}

static void zstd_release(struct stream *s)
{
    struct zstd_stream *z = (struct zstd_stream *)s;

    stream_free(z->inner);
    ZSTD_freeDCtx(z->ctx);
    free(z);
}

struct stream *stream_unzstd(struct stream *inner, struct err *err)
{
    static const struct stream_ops ops = {zstd_peek, zstd_advance, zstd_release, zstd_read, NULL};
    struct zstd_stream *z = malloc(sizeof(*z));
    ZSTD_DCtx *ctx = ZSTD_createDCtx();

    if (!z || !ctx) {
        free(z);
        ZSTD_freeDCtx(ctx);
        stream_free(inner);
        err_nomem(err);
        return NULL;
    }
    z->base.ops = &ops;
    z->inner = inner;
    z->ctx = ctx;
    z->in_frame = z->ended = false;
    z->at = z->len = 0;
    size_t rc = ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, WINDOW_LOG_LIMIT);
    if (ZSTD_isError(rc)) {
        zstd_release(&z->base);
        err_set(err, ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(rc));
        return NULL;
    }
    return &z->base;
}

static bool starts_with(const unsigned char *data, size_t len, const char *magic, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (i >= len || data[i] != (unsigned char)magic[i])
            return false;
    return true;
}

struct stream *stream_decompress(struct stream *inner, enum compression *kind, struct err *err)
{
    enum compression found = COMPRESSION_NONE;
    const void *data;
    size_t len;

    if (stream_peek(inner, &data, &len, err) < 0) {
        stream_free(inner);
        return NULL;
    }
    if (starts_with(data, len, "\x1f\x8b", 2))
        found = COMPRESSION_GZIP;
    else if (starts_with(data, len, "\x28\xb5\x2f\xfd", 4))
        found = COMPRESSION_ZSTD;
    if (kind)
        *kind = found;
    switch (found) {
    case COMPRESSION_GZIP:
        return stream_gunzip(inner, err);
    case COMPRESSION_ZSTD:
        return stream_unzstd(inner, err);
    case COMPRESSION_NONE:
        break;
    }
    return inner;
}
