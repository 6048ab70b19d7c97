#include "flatten/layer/layer_check.h"

#include "flatten/layer/layer_blob.h"

int layer_check_begin(struct layer_check *c, const struct layer *layer, struct err *err)
{
    *c = (struct layer_check){.layer = layer};
    if (layer->blob_is_tar && layer->max_size && layer->size > layer->max_size)
        return err_set(err, ERR_LIMIT, "layer %u, uncompressed: more than %llu bytes",
                       layer->number, (unsigned long long)layer->max_size);
    c->blob = layer_range(layer, layer->size, err);
    if (c->blob && layer->blob_is_tar && layer->progress)
        c->blob = stream_count(c->blob, layer->progress, err);
    if (!c->blob)
        return err_wrap(err, "layer %u", layer->number);
    return sha256_lane_init(&c->hash, err);
}

/* The blob of an uncompressed layer is its archive: one hash serves for both digests. */
static int compare_digests(struct layer_check *c, struct err *err)
{
    const struct layer *layer = c->layer;
    struct digest actual;

    if (sha256_lane_finish(&c->hash, &actual, err) < 0)
        return -1;
    if (layer->digest.text[0] && !digest_equal(&actual, &layer->digest))
        return err_set(err, ERR_DIGEST, "layer %u: content is %s, not %s as the image says",
                       layer->number, actual.text, layer->digest.text);
    if (layer->blob_is_tar && layer->diff_id.text[0] && !digest_equal(&actual, &layer->diff_id))
        return err_set(err, ERR_DIGEST,
                       "layer %u, uncompressed: content is %s, not %s as the image says",
                       layer->number, actual.text, layer->diff_id.text);
    return 0;
}

/*
 * True for a blob that the keeper checks while it arrives: all of it is there only if its digest is
 * right (registry_pull.c).
 */
static bool keeper_checks(const struct layer *layer)
{
    return layer->arriving.all && !layer->blob_is_tar;
}

int layer_check_next(struct layer_check *c, struct hash_piece *out, struct err *err)
{
    const void *data;
    size_t len;

    if (keeper_checks(c->layer))
        return layer_await(c->layer, c->layer->size, err);
    if (stream_peek(c->blob, &data, &len, err) < 0)
        return err_wrap(err, "layer %u", c->layer->number);
    *out = (struct hash_piece){&c->hash, data, len, c};
    return len > 0 ? 1 : compare_digests(c, err);
}

void layer_check_advance(struct layer_check *c, size_t len)
{
    stream_advance(c->blob, len);
}

void layer_check_end(struct layer_check *c)
{
    sha256_lane_clear(&c->hash);
    cleanup_stream(&c->blob);
    c->layer = NULL;
}
