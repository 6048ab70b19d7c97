#include "flatten/squash/squashed.h"

#include "flatten/squash/kept_layers.h"

#include <fcntl.h>
#include <stdlib.h>

void squashed_clear(struct squashed *s)
{
    free(s->layers);
    free(s->merged);
    free(s->inventory);
    cleanup_image(&s->result);
    *s = (struct squashed){0};
}

int squashed_init(size_t most, size_t kept, struct squashed *out, struct err *err)
{
    *out = (struct squashed){.kept = kept};
    out->layers = calloc(most, sizeof(*out->layers));
    out->merged = calloc(most, sizeof(*out->merged));
    out->result = calloc(1, sizeof(*out->result));
    if (!out->layers || !out->merged || !out->result ||
        !(out->result->layers = calloc(most, sizeof(*out->result->layers)))) {
        err_nomem(err);
        return -1;
    }
    return 0;
}

/* Adds a written layer to the image that squash_verify reads. Takes fd. */
static void result_add_layer(struct image *result, int fd, off_t offset,
                             const struct written_layer *layer)
{
    unsigned number = (unsigned)++result->layer_count;

    result->layers[number - 1] = (struct layer){.number = number,
                                                .diff_id = layer->diff_id,
                                                .digest = layer->digest,
                                                .fd = fd,
                                                .offset = offset,
                                                .size = layer->size};
}

int squashed_keep_layer(struct squashed *out, struct layer *layer, bool readable, struct sink *sink,
                        struct err *err)
{
    struct written_layer *as = &out->layers[out->count];
    off_t offset;
    int fd;

    if (kept_layer_describe(layer, as, err) < 0 ||
        kept_layer_copy(layer, as, sink, readable ? &fd : NULL, &offset, err) < 0)
        return -1;
    out->count++;
    if (readable)
        result_add_layer(out->result, fd, offset, as);
    return 0;
}

int squashed_share_layer(struct squashed *out, const struct squashed *from, size_t which,
                         bool readable, struct err *err)
{
    const struct layer *layer = &from->result->layers[which];

    if (readable) {
        int fd = fcntl(layer->fd, F_DUPFD_CLOEXEC, 3);
        if (fd < 0)
            return err_sys(err, "dup");
        result_add_layer(out->result, fd, layer->offset, &from->layers[which]);
    }
    out->layers[out->count++] = from->layers[which];
    return 0;
}

/* True if `s` has a new layer with the same digest; *which is its index. */
static bool was_made(const struct squashed *s, const struct written_layer *layer, size_t *which)
{
    for (*which = s->kept; *which < s->count; ++*which)
        if (digest_equal(&s->layers[*which].digest, &layer->digest))
            return true;
    return false;
}

/* Returns the image for which the same layer was made before; or NULL. */
static const struct squashed *find_made(const struct squash_options *options,
                                        const struct squashed *out,
                                        const struct written_layer *layer, size_t *which)
{
    for (size_t i = 0; i < options->earlier_count; i++)
        if (was_made(options->earlier[i], layer, which))
            return options->earlier[i];
    return was_made(out, layer, which) ? out : NULL;
}

int squashed_end_layer(struct squashed *out, int fd, off_t offset,
                       const struct squash_options *options, struct sink *sink, struct err *err)
{
    const struct written_layer *layer = &out->layers[out->count];
    size_t which;
    const struct squashed *made = find_made(options, out, layer, &which);

    if (made && options->readable) {
        fd = made->result->layers[which].fd;
        offset = made->result->layers[which].offset;
    }
    _cleanup_fd_ int again = options->readable ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    if (options->readable && again < 0)
        return err_sys(err, "dup");
    if (sink_end_layer(sink, layer, err) < 0)
        return -1;
    if (options->readable)
        result_add_layer(out->result, steal_fd(&again), offset, layer);
    return 0;
}
