#include "flatten/squash.h"

/* One attempt: 0, -1, or 1 when the layers must be indexed first. */
static int attempt(const struct image *image, const struct merged_options *options,
                   const struct compress_options *compress, struct hasher *hasher,
                   struct sink *sink, struct written_layer *out, struct merged_report *report,
                   struct err *err)
{
    off_t offset;
    int fd;

    if (sink_begin_layer(sink, &fd, &offset, err) < 0)
        return -1;
    _cleanup_layer_writer_ struct layer_writer *w =
        layer_writer_new(fd, offset, compress, hasher, err);
    if (!w)
        return -1;
    layer_writer_limit(w, options->max_size);
    int rc = merged_entries(image, options, layer_writer_sink(w), report, err);
    if (rc != 0)
        return rc;
    return layer_writer_finish(w, out, err);
}

static void prepare_layers(struct image *image, uint64_t max_size, struct hasher *hasher)
{
    for (size_t i = 0; i < image->layer_count; i++) {
        image->layers[i].max_size = max_size;
        image->layers[i].hasher = hasher;
    }
}

int squash_layers(struct image *image, const struct merged_options *options,
                  const struct compress_options *compress, struct sink *sink,
                  struct written_layer *out, struct merged_report *report, struct err *err)
{
    _cleanup_hasher_ struct hasher *hasher = hasher_new(err);
    struct merged_options o = *options;

    if (!hasher)
        return -1;
    o.indexed = o.indexed || o.semantics != SEMANTICS_OVERLAY;
    prepare_layers(image, o.max_size, hasher);
    int rc = attempt(image, &o, compress, hasher, sink, out, report, err);

    if (rc > 0) {
        o.indexed = true;
        rc = attempt(image, &o, compress, hasher, sink, out, report, err);
    }
    prepare_layers(image, o.max_size, NULL);
    return rc < 0 ? -1 : sink_end_layer(sink, out, err);
}
