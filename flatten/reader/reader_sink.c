#include "flatten/reader/reader_internal.h"

#include <string.h>

struct remote_sink {
    struct sink base;
    struct reader *reader;
    int fds[1 + SINK_MOST_BESIDE]; /* of the layers that were begun, in that order */
    size_t count;
};

static void close_first(struct remote_sink *s)
{
    cleanup_fd(&s->fds[0]);
    s->count--;
    memmove(s->fds, s->fds + 1, s->count * sizeof(*s->fds));
}

static void close_all(struct remote_sink *s)
{
    while (s->count > 0)
        close_first(s);
}

static int ask_begin(struct remote_sink *s, uint64_t how, int *fd, off_t *offset, struct err *err)
{
    const struct wire_request request = {.op = WIRE_BEGIN, .number = how};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    if (reader_ask(s->reader, &request, &a, err) < 0 || (*fd = answer_fd(&a, err)) < 0)
        return -1;
    s->fds[s->count++] = *fd;
    *offset = a.reply.number ? -1 : (off_t)a.reply.offset;
    return 0;
}

static int begin_layer(struct sink *base, bool once, int *fd, off_t *offset, struct err *err)
{
    struct remote_sink *s = (struct remote_sink *)base;

    close_all(s);
    return ask_begin(s, once, fd, offset, err);
}

static int begin_beside(struct sink *base, int *fd, off_t *offset, struct err *err)
{
    return ask_begin((struct remote_sink *)base, WIRE_BESIDE, fd, offset, err);
}

static int end_layer(struct sink *base, const struct written_layer *layer, struct err *err)
{
    struct remote_sink *s = (struct remote_sink *)base;
    const struct wire_request request = {.op = WIRE_END, .layer = *layer};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    close_first(s);
    return reader_ask(s->reader, &request, &a, err);
}

static int has_layer(struct sink *base, size_t position, const struct written_layer *layer,
                     struct err *err)
{
    struct remote_sink *s = (struct remote_sink *)base;
    const struct wire_request request = {.op = WIRE_HAS, .number = position, .layer = *layer};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    return reader_ask(s->reader, &request, &a, err) < 0 ? -1 : a.reply.number == 1;
}

static int ask_keeper(struct remote_sink *s, const struct wire_request *request, struct err *err)
{
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    return reader_ask(s->reader, request, &a, err);
}

static int name_image(struct remote_sink *s, const struct sink_image *image, struct err *err)
{
    const struct wire_request request = {.op = WIRE_IMAGE, .image = *image};

    if (image->layer_count > WIRE_MOST_BLOBS || image->config.len > WIRE_MOST_DOCUMENT ||
        image->manifest.len > WIRE_MOST_DOCUMENT)
        return err_set(err, ERR_LIMIT, "the new image's config or manifest is too large");
    return ask_keeper(s, &request, err);
}

static int publish_images(struct sink *base, const struct sink_image *images, size_t count,
                          struct err *err)
{
    struct remote_sink *s = (struct remote_sink *)base;
    const struct wire_request request = {.op = WIRE_PUBLISH};

    if (count > WIRE_MOST_IMAGES)
        return err_set(err, ERR_LIMIT, "more than %d images, names and indexes", WIRE_MOST_IMAGES);
    for (size_t i = 0; i < count; i++)
        if (name_image(s, &images[i], err) < 0)
            return -1;
    return ask_keeper(s, &request, err);
}

static void release_sink(struct sink *base)
{
    struct remote_sink *s = (struct remote_sink *)base;

    close_all(s);
    free(s);
}

struct sink *reader_sink(struct reader *r, struct err *err)
{
    static const struct sink_ops ops = {.begin_layer = begin_layer,
                                        .end_layer = end_layer,
                                        .publish = publish_images,
                                        .release = release_sink,
                                        .has_layer = has_layer,
                                        .begin_beside = begin_beside};
    const struct wire_request request = {.op = WIRE_SINK};
    _cleanup_answer_ struct answer a = ANSWER_INIT;
    struct remote_sink *s = malloc(sizeof(*s));

    if (!s) {
        err_nomem(err);
        return NULL;
    }
    *s = (struct remote_sink){.base = {.ops = &ops}, .reader = r};
    _cleanup_sink_ struct sink *sink = &s->base;
    if (reader_ask(r, &request, &a, err) < 0)
        return NULL;
    s->base.keeps_zstd = a.reply.number == 1;
    s->base.beside = a.reply.size < SINK_MOST_BESIDE ? (unsigned)a.reply.size : SINK_MOST_BESIDE;
    return steal_ptr(&sink);
}
