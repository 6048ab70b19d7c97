#include "flatten/squash/kept_layers.h"

#include "base/fdio.h"
#include "flatten/layer/layer_blob.h"

#include <fcntl.h>

static int hash_blob(const struct layer *layer, struct digest *out, struct err *err)
{
    _cleanup_stream_ struct stream *s = stream_range(layer->fd, layer->offset, layer->size, err);
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

int kept_layer_describe(const struct layer *layer, struct written_layer *out, struct err *err)
{
    *out = (struct written_layer){
        .diff_id = layer->diff_id, .digest = layer->digest, .size = layer->size};
    int rc = layer_compression(layer, &out->kind, err);

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
    if (sink_begin_layer(sink, false, fd, offset, err) < 0)
        return -1;
    if (fd_copy_range(layer->fd, layer->offset, layer->size, *fd, *offset, err) < 0)
        return err_wrap(err, "layer %u", layer->number);
    return 0;
}

int kept_layer_copy(const struct layer *layer, const struct written_layer *as, struct sink *sink,
                    int *fd, off_t *offset, struct err *err)
{
    int at = layer->fd, has = sink_has_layer(sink, layer->number - 1, as, err);

    *offset = layer->offset;
    if (has < 0 || (has == 0 && copy_blob(layer, sink, &at, offset, err) < 0))
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
