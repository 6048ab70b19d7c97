#include "flatten/squash/squash.h"

#include "flatten/squash/layer_selection.h"
#include "flatten/squash/reading.h"

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

/* ---- merging ---- */

/* Layers that become one: those from options.kept up to image.layer_count. */
struct group {
    struct image image; /* borrows everything from the source */
    struct merged_options options;
    struct merged_report report;
    const struct reading *reading;
};

static enum merge_result rehearse(struct group *g, struct squashed *out, struct err *err)
{
    static const struct entry_sink_ops ops = {.entry = ignore_entry, .data = ignore_data};
    struct entry_sink nowhere = {&ops};
    enum merge_result result = merged_entries(&g->image, &g->options, &nowhere, &g->report, err);

    if (result == MERGE_DONE && (out->count == 0 || g->report.entries_out > 0))
        out->merged[out->count++] = g->image.layer_count - g->options.kept;
    return result;
}

/* True if the new layer is the only one of the only image, and is not read again. */
static bool is_written_once(const struct squash_options *options)
{
    return options->alone && !options->readable && options->into == 1 && options->merged.kept == 0;
}

/* An empty layer is not written. */
static enum merge_result write_group(struct group *g, const struct squash_options *options,
                                     struct sink *sink, struct squashed *out, struct err *err)
{
    struct written_layer *layer = &out->layers[out->count];
    off_t offset;
    int fd;

    if (sink_begin_layer(sink, is_written_once(options), &fd, &offset, err) < 0)
        return MERGE_FAILED;
    _cleanup_layer_writer_ struct layer_writer *w =
        layer_writer_new(fd, offset, &options->compress, g->reading->hasher, err);
    if (!w)
        return MERGE_FAILED;
    layer_writer_limit(w, options->merged.max_size);
    enum merge_result result =
        merged_entries(&g->image, &g->options, layer_writer_sink(w), &g->report, err);
    if (result != MERGE_DONE || (out->count && g->report.entries_out == 0))
        return result;
    if (layer_writer_finish(w, layer, err) < 0 || verifier_finish(g->reading->verifier, err) < 0 ||
        squashed_end_layer(out, fd, offset, options, sink, err) < 0)
        return MERGE_FAILED;
    out->merged[out->count++] = g->image.layer_count - g->options.kept;
    return MERGE_DONE;
}

static enum merge_result merge_or_rehearse(struct group *g, const struct squash_options *options,
                                           struct sink *sink, struct squashed *out, struct err *err)
{
    return sink ? write_group(g, options, sink, out, err) : rehearse(g, out, err);
}

static void add_report(struct merged_report *sum, const struct merged_report *r)
{
    sum->entries_in += r->entries_in;
    sum->entries_kept += r->entries_kept;
    sum->entries_out += r->entries_out;
    sum->whiteouts += r->whiteouts;
    sum->payload_in += r->payload_in;
    sum->payload_out += r->payload_out;
    sum->divergences += r->divergences;
    sum->dropped += r->dropped;
}

static int merge_group(const struct image *image, const struct squash_options *options,
                       size_t below, size_t end, const struct reading *reading, struct sink *sink,
                       struct squashed *out, struct err *err)
{
    struct group g = {.image = *image, .options = options->merged, .reading = reading};

    g.image.layer_count = end;
    g.options.kept = below;
    enum merge_result result = merge_or_rehearse(&g, options, sink, out, err);
    if (result == MERGE_NEEDS_INDEX) {
        g.options.indexed = true;
        g.options.told = g.report.conflict;
        result = merge_or_rehearse(&g, options, sink, out, err);
    }
    add_report(&out->report, &g.report);
    return result == MERGE_DONE ? 0 : -1;
}

static int write_all(const struct image *image, const struct squash_options *options,
                     const struct reading *reading, struct sink *sink, struct squashed *out,
                     struct err *err)
{
    size_t kept = options->merged.kept, below = kept;
    _cleanup_free_ size_t *ends = calloc(image->layer_count + 1, sizeof(*ends));

    if (!ends || squashed_init(image->layer_count + 1, kept, out, err) < 0)
        return err_nomem(err);
    out->report.layers = (unsigned)image->layer_count;
    for (size_t i = 0; sink && i < kept; i++)
        if (squashed_keep_layer(out, &image->layers[i], options->readable, sink, err) < 0)
            return -1;
    out->count = kept;
    size_t groups = layer_selection_groups(image, kept, options->into, ends);
    if (groups == 0) /* all are kept; they are read once, to check their digests */
        ends[groups++] = image->layer_count;
    for (size_t i = 0; i < groups; below = ends[i++])
        if (merge_group(image, options, below, ends[i], reading, sink, out, err) < 0)
            return -1;
    return 0;
}

int squash_layers(struct image *image, const struct squash_options *options, struct sink *sink,
                  struct squashed *out, struct err *err)
{
    _cleanup_reading_ struct reading reading = {.image = image};

    if (reading_begin(&reading, image, options, err) < 0)
        return -1;
    if (write_all(image, options, &reading, sink, out, err) < 0) {
        verifier_explain(reading.verifier, err);
        return -1;
    }
    return verifier_finish(reading.verifier, err);
}
