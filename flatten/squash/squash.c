#include "flatten/squash/squash.h"

#include "flatten/layer/verifier.h"
#include "flatten/squash/kept_layers.h"
#include "flatten/squash/layer_selection.h"

#include <fcntl.h>

void squashed_clear(struct squashed *s)
{
    free(s->layers);
    free(s->merged);
    cleanup_image(&s->result);
    *s = (struct squashed){0};
}

static int squashed_init(size_t most, size_t kept, struct squashed *out, struct err *err)
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

static int keep_layer(const struct layer *layer, bool readable, struct sink *sink,
                      struct squashed *out, struct err *err)
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

/* The threads that check the layers that are read, and hash the one that is written. */
struct checks {
    struct hasher *hasher;
    struct verifier *verifier;
};

/* Layers that become one: those from options.kept up to image.layer_count. */
struct group {
    struct image image; /* borrows everything from the source */
    struct merged_options options;
    struct merged_report report;
    const struct checks *checks;
};

static enum merge_result rehearse(struct group *g, struct squashed *out, struct err *err)
{
    static const struct entry_sink_ops ops = {ignore_entry, ignore_data};
    struct entry_sink nowhere = {&ops};
    enum merge_result result = merged_entries(&g->image, &g->options, &nowhere, &g->report, err);

    if (result == MERGE_DONE && (out->count == 0 || g->report.entries_out > 0))
        out->merged[out->count++] = g->image.layer_count - g->options.kept;
    return result;
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

/* Passes the layer to the sink, unless it has it, and adds it to the result. */
static int end_layer(int fd, off_t offset, const struct squash_options *options, struct sink *sink,
                     struct squashed *out, struct err *err)
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
    if (!made && sink_end_layer(sink, layer, err) < 0)
        return -1;
    if (options->readable)
        result_add_layer(out->result, steal_fd(&again), offset, layer);
    return 0;
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
        layer_writer_new(fd, offset, &options->compress, g->checks->hasher, err);
    if (!w)
        return MERGE_FAILED;
    layer_writer_limit(w, options->merged.max_size);
    enum merge_result result =
        merged_entries(&g->image, &g->options, layer_writer_sink(w), &g->report, err);
    if (result != MERGE_DONE || (out->count && g->report.entries_out == 0))
        return result;
    if (layer_writer_finish(w, layer, err) < 0 || verifier_finish(g->checks->verifier, err) < 0 ||
        end_layer(fd, offset, options, sink, out, err) < 0)
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
                       size_t below, size_t end, const struct checks *checks, struct sink *sink,
                       struct squashed *out, struct err *err)
{
    struct group g = {.image = *image, .options = options->merged, .checks = checks};

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
                     const struct checks *checks, struct sink *sink, struct squashed *out,
                     struct err *err)
{
    size_t kept = options->merged.kept, below = kept;
    _cleanup_free_ size_t *ends = calloc(image->layer_count + 1, sizeof(*ends));

    if (!ends || squashed_init(image->layer_count + 1, kept, out, err) < 0)
        return err_nomem(err);
    out->report.layers = (unsigned)image->layer_count;
    for (size_t i = 0; sink && i < kept; i++)
        if (keep_layer(&image->layers[i], options->readable, sink, out, err) < 0)
            return -1;
    out->count = kept;
    size_t groups = layer_selection_groups(image, kept, options->into, ends);
    if (groups == 0) /* all are kept; they are read once, to check their digests */
        ends[groups++] = image->layer_count;
    for (size_t i = 0; i < groups; below = ends[i++])
        if (merge_group(image, options, below, ends[i], checks, sink, out, err) < 0)
            return -1;
    return 0;
}

static int write_checked(struct image *image, const struct squash_options *options,
                         struct hasher *hasher, struct sink *sink, struct squashed *out,
                         struct err *err)
{
    _cleanup_verifier_ struct verifier *verifier = verifier_new(image, err);
    _cleanup_unpacker_ struct unpacker *unpacker = NULL;
    const struct checks checks = {hasher, verifier};

    if (!verifier)
        return -1;
    if (options->files.count > 0) {
        unpacker = unpacker_new(image, options->merged.kept, &options->files,
                                unpacker_threads(options->compress.threads), err);
        if (!unpacker)
            return -1;
    }
    if (write_all(image, options, &checks, sink, out, err) < 0) {
        verifier_explain(verifier, err);
        return -1;
    }
    return verifier_finish(verifier, err);
}

static void prepare_layers(struct image *image, uint64_t max_size, struct hasher *hasher)
{
    for (size_t i = 0; i < image->layer_count; i++) {
        image->layers[i].max_size = max_size;
        image->layers[i].hasher = hasher;
    }
}

int squash_layers(struct image *image, const struct squash_options *options, struct sink *sink,
                  struct squashed *out, struct err *err)
{
    _cleanup_hasher_ struct hasher *hasher = hasher_new(err);

    if (!hasher)
        return -1;
    prepare_layers(image, options->merged.max_size, hasher);
    int rc = write_checked(image, options, hasher, sink, out, err);
    prepare_layers(image, options->merged.max_size, NULL);
    return rc;
}
