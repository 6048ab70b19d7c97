#include "flatten/layer/layer_check.h"

#include "flatten/stream/interrupt.h"

int layer_check_begin(struct layer_check *c, const struct layer *layer, struct err *err)
{
    c->layer = layer;
    c->hash = (struct sha256_lane){0};
    c->read = 0;
    c->at = c->len = 0;
    if (layer->blob_is_tar && layer->max_size && layer->size > layer->max_size)
        return err_set(err, ERR_LIMIT, "layer %u, uncompressed: more than %llu bytes",
                       layer->number, (unsigned long long)layer->max_size);
    return sha256_lane_init(&c->hash, err);
}

static int fill(struct layer_check *c, struct err *err)
{
    const struct layer *layer = c->layer;
    uint64_t left = layer->size - c->read;
    size_t want = left < LAYER_CHECK_BLOCK ? (size_t)left : LAYER_CHECK_BLOCK;
    ssize_t n;

    do {
        if (interrupt_check(err) < 0)
            return -1;
        n = pread(layer->fd, c->block, want, layer->offset + (off_t)c->read);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_sys(err, "layer %u: read", layer->number);
    if (n == 0)
        return err_set(err, ERR_FORMAT, "layer %u: the file ends too early", layer->number);
    c->at = 0;
    c->len = (size_t)n;
    c->read += (uint64_t)n;
    if (layer->blob_is_tar && layer->progress)
        atomic_fetch_add(layer->progress, (uint64_t)n);
    return 1;
}

/* Of what lies as it is, the blob is the archive, and one hash serves for both. */
static int compare(struct layer_check *c, struct err *err)
{
    const struct layer *layer = c->layer;
    struct digest actual;

    if (sha256_lane_finish(&c->hash, &actual, err) < 0)
        return -1;
    if (layer->digest.text[0] && !digest_equal(&actual, &layer->digest))
        return err_set(err, ERR_DIGEST, "layer %u: content is %s, not %s as the image says",
                       layer->number, actual.text, layer->digest.text);
    if (layer->blob_is_tar && !digest_equal(&actual, &layer->diff_id))
        return err_set(err, ERR_DIGEST,
                       "layer %u, uncompressed: content is %s, not %s as the image says",
                       layer->number, actual.text, layer->diff_id.text);
    return 0;
}

int layer_check_next(struct layer_check *c, struct err *err)
{
    if (c->at < c->len)
        return 1;
    return c->read < c->layer->size ? fill(c, err) : compare(c, err);
}

void layer_check_end(struct layer_check *c)
{
    sha256_lane_clear(&c->hash);
    c->layer = NULL;
}
