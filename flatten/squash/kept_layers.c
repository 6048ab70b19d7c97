#include "flatten/squash/kept_layers.h"

#include "base/fdio.h"
#include "flatten/layer/layer_blob.h"

#include <fcntl.h>
#include <string.h>

static int hash_blob(const struct layer *layer, struct digest *out, struct err *err)
{
    _cleanup_stream_ struct stream *s = layer_range(layer, layer->size, err);
    _cleanup_sha256_ struct sha256 *hash = s ? sha256_new(err) : NULL;
    const void *data;
    size_t len;

    if (!hash)
        return -1;
    for (;;) {
        if (stream_peek(s, &data, &len, err) < 0)
            return -1;
        if (len == 0)
            return sha256_finish(hash, out, err);
        if (sha256_update(hash, data, len, err) < 0)
            return -1;
        stream_advance(s, len);
    }
}

/* Takes the compression from the media type of a layer that is not open. */
static int compression_named(const struct layer *layer, enum compression *kind, struct err *err)
{
    const char *type = layer->media_type ? layer->media_type : "";
    size_t len = strlen(type);

    *kind = strstr(type, "zstd")   ? COMPRESSION_ZSTD
            : strstr(type, "gzip") ? COMPRESSION_GZIP
                                   : COMPRESSION_NONE;
    if (*kind == COMPRESSION_NONE && (len < 4 || strcmp(type + len - 4, ".tar") != 0))
        return err_set(err, ERR_UNSUPPORTED, "its media type is not that of a layer");
    return 0;
}

/* Fetches the blob, and checks all of it: nobody has read it. */
static int fetch_blob(struct layer *layer, struct err *err)
{
    if (layer_fetch(layer, err) < 0)
        return -1;
    _cleanup_stream_ struct stream *s = layer_tar(layer, err);

    return s ? stream_drain(s, err) : -1;
}

int kept_layer_describe(const struct layer *layer, struct written_layer *out, struct err *err)
{
    *out = (struct written_layer){
        .diff_id = layer->diff_id, .digest = layer->digest, .size = layer->size};
    bool is_open = layer->fd >= 0;
    int rc = is_open ? layer_compression(layer, &out->kind, err)
                     : compression_named(layer, &out->kind, err);

    if (rc == 0 && !layer->digest.text[0]) {
        if (out->kind == COMPRESSION_NONE)
            out->digest = layer->diff_id;
        else
            rc = hash_blob(layer, &out->digest, err);
    }
    return rc < 0 ? err_wrap(err, "layer %u", layer->number) : 0;
}

/* Copies the blob to the sink. *fd (borrowed) and *offset: where the copy is. */
static int copy_blob(const struct layer *layer, struct sink *sink, int *fd, off_t *offset,
                     struct err *err)
{
    if (layer_await(layer, layer->size, err) < 0 ||
        sink_begin_layer(sink, false, fd, offset, err) < 0)
        return -1;
    if (fd_copy_range(layer->fd, layer->offset, layer->size, *fd, *offset, err) < 0)
        return err_wrap(err, "layer %u", layer->number);
    return 0;
}

int kept_layer_copy(struct layer *layer, const struct written_layer *as, struct sink *sink, int *fd,
                    off_t *offset, struct err *err)
{
    int has = sink_has_layer(sink, layer->number - 1, as, err);

    if (has == 0 && layer->fd < 0 && fetch_blob(layer, err) < 0)
        return -1;
    int at = layer->fd;
    *offset = layer->offset;
    if (has < 0 || (has == 0 && copy_blob(layer, sink, &at, offset, err) < 0) ||
        (fd && layer_await(layer, layer->size, err) < 0))
        return -1;
    _cleanup_fd_ int again = fd ? fcntl(at, F_DUPFD_CLOEXEC, 3) : -1;
    if (fd && again < 0)
        return err_sys(err, "dup");
    if (has == 0 && sink_end_layer(sink, as, err) < 0)
        return -1;
    if (fd)
        *fd = steal_fd(&again);
    return 0;
}
