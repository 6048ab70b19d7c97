#include "flatten/squash.h"

#include "flatten/kept.h"

#include <fcntl.h>

void squashed_clear(struct squashed *s)
{
    free(s->layers);
    cleanup_image(&s->result);
    *s = (struct squashed){0};
}

static int prepare(size_t kept, struct squashed *out, struct err *err)
{
    *out = (struct squashed){.kept = kept};
    out->layers = calloc(kept + 1, sizeof(*out->layers));
    out->result = calloc(1, sizeof(*out->result));
    if (!out->layers || !out->result ||
        !(out->result->layers = calloc(kept + 1, sizeof(*out->result->layers))))
        return err_nomem(err);
    return 0;
}

/* Notes where a layer of the result lies; fd is taken. */
static void add_result(struct squashed *s, int fd, off_t offset, const struct written_layer *layer)
{
    struct image *result = s->result;

    s->layers[s->count++] = *layer;
    result->layers[result->layer_count++] = (struct layer){.number = (unsigned)s->count,
                                                           .diff_id = layer->diff_id,
                                                           .digest = layer->digest,
                                                           .fd = fd,
                                                           .offset = offset,
                                                           .size = layer->size};
}

static int keep_layer(const struct layer *layer, struct sink *sink, struct squashed *out,
                      struct err *err)
{
    struct written_layer as;
    off_t offset;
    int fd;

    if (kept_describe(layer, &as, err) < 0 || kept_copy(layer, &as, sink, &fd, &offset, err) < 0)
        return -1;
    add_result(out, fd, offset, &as);
    return 0;
}

/* One attempt: 0, -1, or 1 when the layers must be indexed first. */
static int attempt(const struct image *image, const struct merged_options *options,
                   const struct compress_options *compress, struct sink *sink, struct squashed *out,
                   struct err *err)
{
    struct written_layer layer;
    off_t offset;
    int fd;

    if (sink_begin_layer(sink, &fd, &offset, err) < 0)
        return -1;
    _cleanup_layer_writer_ struct layer_writer *w = layer_writer_new(fd, offset, compress, err);
    if (!w)
        return -1;
    int rc = merged_entries(image, options, layer_writer_sink(w), &out->report, err);
    if (rc != 0)
        return rc;
    if (out->kept && out->report.entries_out == 0)
        return 0;
    _cleanup_fd_ int again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (again < 0)
        return err_sys(err, "dup");
    if (layer_writer_finish(w, &layer, err) < 0 || sink_end_layer(sink, &layer, err) < 0)
        return -1;
    add_result(out, steal_fd(&again), offset, &layer);
    return 0;
}

static bool must_index(const struct merged_options *o)
{
    return o->indexed || o->semantics != SEMANTICS_OVERLAY || o->kept > 0;
}

int squash_layers(const struct image *image, const struct merged_options *options,
                  const struct compress_options *compress, struct sink *sink, struct squashed *out,
                  struct err *err)
{
    struct merged_options o = *options;

    if (prepare(o.kept, out, err) < 0)
        return -1;
    for (size_t i = 0; i < o.kept; i++)
        if (keep_layer(&image->layers[i], sink, out, err) < 0)
            return -1;
    out->indexed = o.indexed = must_index(&o);
    int rc = attempt(image, &o, compress, sink, out, err);

    if (rc > 0) {
        out->indexed = o.indexed = true;
        rc = attempt(image, &o, compress, sink, out, err);
    }
    return rc < 0 ? -1 : 0;
}

static int ignore_entry(struct entry_sink *s, struct archive_entry *header, struct err *err)
{
    (void)s, (void)header, (void)err;
    return 0;
}

static int ignore_data(struct entry_sink *s, const void *data, uint64_t len, struct err *err)
{
    (void)s, (void)data, (void)len, (void)err;
    return 0;
}

int squash_rehearse(const struct image *image, const struct merged_options *options,
                    struct squashed *out, struct err *err)
{
    static const struct entry_sink_ops ops = {ignore_entry, ignore_data};
    struct merged_options o = *options;
    struct entry_sink nowhere = {&ops};

    *out = (struct squashed){.kept = o.kept, .indexed = must_index(&o)};
    o.indexed = out->indexed;
    int rc = merged_entries(image, &o, &nowhere, &out->report, err);
    if (rc > 0) {
        out->indexed = o.indexed = true;
        rc = merged_entries(image, &o, &nowhere, &out->report, err);
    }
    out->count = o.kept + (o.kept == 0 || out->report.entries_out > 0);
    return rc;
}
