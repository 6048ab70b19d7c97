#include "flatten/merge/merged_stream.h"

#include "flatten/layer/attributes.h"
#include "flatten/layer/emit.h"
#include "flatten/merge/merge.h"
#include "flatten/merge/tree/array.h"
#include "flatten/merge/tree/merged_limits.h"
#include "flatten/merge/tree/merged_notice.h"

#include <string.h>

/* A link whose content is in an entry of the current layer that was hidden when it was read. */
struct deferred_link {
    uint32_t ordinal; /* of that entry */
    uint32_t node;    /* of the link */
    struct attributes *header;
};

struct stream_merge {
    const struct image *image;
    struct merge *merge;
    struct entry_sink *sink;
    struct deferred_link *deferred; /* of the current layer, in the order of the links */
    size_t deferred_count, deferred_cap;
    size_t deferred_bytes; /* of their headers */
    struct buf path, target;
    const struct merged_options *options;
    struct merged_report *report;
    struct layer_probes probes;
};

static void forget_deferred(struct stream_merge *s)
{
    for (size_t i = 0; i < s->deferred_count; i++)
        attributes_free(s->deferred[i].header);
    s->deferred_count = 0;
    s->deferred_bytes = 0;
}

static void stream_merge_clear(struct stream_merge *s)
{
    forget_deferred(s);
    free(s->deferred);
    buf_free(&s->path);
    buf_free(&s->target);
    layer_probes_clear(&s->probes);
    cleanup_merge(&s->merge);
}

static int defer_link(struct stream_merge *s, const struct merge_output *out,
                      struct archive_entry *header, struct err *err)
{
    struct attributes *copy = attributes_of(header, err);
    struct deferred_link *d = copy ? ARRAY_PUSH(s, deferred, deferred, err) : NULL;

    if (!d) {
        attributes_free(copy);
        return -1;
    }
    *d = (struct deferred_link){out->ordinal, out->node, copy};
    s->deferred_bytes += attributes_size(copy);
    return merged_check_attributes(s->options->max_attributes, s->deferred_bytes, "hard links",
                                   err);
}

static int write_link(struct stream_merge *s, uint32_t node, uint32_t target,
                      struct archive_entry *header, struct err *err)
{
    const char *path = tree_path_in(merge_tree(s->merge), node, &s->path),
               *to = tree_path_in(merge_tree(s->merge), target, &s->target);

    s->report->entries_out++;
    return path && to ? emit_link(s->sink, path, to, header, err) : err_nomem(err);
}

static int write_implied(struct stream_merge *s, const struct merge_output *out,
                         struct archive_entry *like, struct err *err)
{
    for (size_t i = 0; i < out->implied_count; i++) {
        const char *path = tree_path_in(merge_tree(s->merge), out->implied[i], &s->path);
        s->report->entries_out++;
        if (!path)
            return err_nomem(err);
        if (emit_implied(s->sink, path, like, err) < 0)
            return -1;
    }
    return 0;
}

static int write_decision(struct stream_merge *s, struct layer_reader *reader,
                          struct layer_entry *entry, const struct merge_output *out,
                          struct err *err)
{
    if (write_implied(s, out, entry->header, err) < 0)
        return -1;
    switch (out->action) {
    case MERGE_EMIT:
        s->report->entries_out++;
        if (!tree_path_in(merge_tree(s->merge), out->node, &s->path))
            return err_nomem(err);
        return emit_entry(s->sink, s->path.data, entry->header, reader, &s->report->payload_out,
                          err);
    case MERGE_LINK:
        return write_link(s, out->node, out->target, entry->header, err);
    case MERGE_DEFER:
        return defer_link(s, out, entry->header, err);
    case MERGE_SKIP:
    case MERGE_CONFLICT:
        break;
    }
    return 0;
}

static enum merge_result stream_entry(struct stream_merge *s, const struct layer *layer,
                                      struct layer_reader *reader, struct layer_entry *entry,
                                      struct err *err)
{
    struct merge_output out;

    s->report->entries_in++;
    if (entry->info.kind == ENTRY_FILE)
        s->report->payload_in += (uint64_t)archive_entry_size(entry->header);
    if (merge_entry(s->merge, &entry->info, &out, err) < 0 ||
        merged_check_implied(merge_tree(s->merge), s->report, err) < 0) {
        layer_entry_wrap(layer, entry, err);
        return MERGE_FAILED;
    }
    if (out.action == MERGE_CONFLICT) {
        s->report->conflict = (struct merged_place){layer->number, entry->info.ordinal};
        return MERGE_NEEDS_INDEX;
    }
    merged_notice_entry(s->options, s->report, layer, entry, out.divergence);
    if (write_decision(s, reader, entry, &out, err) < 0) {
        layer_entry_wrap(layer, entry, err);
        return MERGE_FAILED;
    }
    return MERGE_DONE;
}

static int by_ordinal(const void *a, const void *b)
{
    const struct deferred_link *x = a, *y = b;

    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int write_origin(struct stream_merge *s, const struct deferred_link *d,
                        struct archive_entry *origin, struct layer_reader *reader, struct err *err)
{
    _cleanup_entry_ struct archive_entry *link = attributes_entry(d->header, err);
    const char *path = tree_path_in(merge_tree(s->merge), d->node, &s->path);

    if (!link)
        return -1;
    if (!path)
        return err_nomem(err);
    s->report->entries_out++;
    return emit_materialised(s->sink, path, link, origin, reader, &s->report->payload_out, err);
}

static int write_further(struct stream_merge *s, const struct deferred_link *d, uint32_t target,
                         struct err *err)
{
    _cleanup_entry_ struct archive_entry *link = attributes_entry(d->header, err);

    return link ? write_link(s, d->node, target, link, err) : -1;
}

/* Writes the links that share one hidden entry: the first as the file, the others as links to it.
 */
static int write_group(struct stream_merge *s, const struct deferred_link *deferred, size_t count,
                       struct archive_entry *origin, struct layer_reader *reader, struct err *err)
{
    if (write_origin(s, &deferred[0], origin, reader, err) < 0)
        return -1;
    for (size_t i = 1; i < count; i++)
        if (write_further(s, &deferred[i], deferred[0].node, err) < 0)
            return -1;
    return 0;
}

/* Reads the layer once more for the content of the deferred links. */
static int write_deferred(struct stream_merge *s, const struct layer *layer, struct err *err)
{
    _cleanup_layer_reader_ struct layer_reader *reader = layer_reader_open(layer, err);
    struct layer_entry entry;
    size_t i = 0;

    if (!reader)
        return -1;
    qsort(s->deferred, s->deferred_count, sizeof(*s->deferred), by_ordinal);
    while (i < s->deferred_count) {
        size_t count = 1;
        int rc = layer_reader_next(reader, &entry, err);
        if (rc <= 0)
            return rc < 0 ? -1
                          : err_set(err, ERR_FORMAT, "layer %u changed while it was read",
                                    layer->number);
        if (entry.info.ordinal != s->deferred[i].ordinal)
            continue;
        while (i + count < s->deferred_count &&
               s->deferred[i + count].ordinal == entry.info.ordinal)
            count++;
        if (write_group(s, s->deferred + i, count, entry.header, reader, err) < 0)
            return layer_entry_wrap(layer, &entry, err);
        i += count;
    }
    forget_deferred(s);
    return 0;
}

static enum merge_result stream_layer(struct stream_merge *s, const struct layer *layer,
                                      struct err *err)
{
    _cleanup_layer_reader_ struct layer_reader *reader = layer_reader_open(layer, err);
    struct layer_entry entry;
    int rc;

    if (!reader || merge_begin_layer(s->merge, layer->number - 1, err) < 0)
        return MERGE_FAILED;
    while ((rc = layer_reader_next(reader, &entry, err)) > 0) {
        enum merge_result result = stream_entry(s, layer, reader, &entry, err);
        if (result != MERGE_DONE)
            return result;
    }
    if (rc < 0 || (s->deferred_count && write_deferred(s, layer, err) < 0) ||
        (s->options->count_probes && merge_list_layer(s->merge, &s->probes, err) < 0))
        return MERGE_FAILED;
    return MERGE_DONE;
}

static enum merge_result stream_all(struct stream_merge *s, struct err *err)
{
    for (size_t i = s->image->layer_count; i-- > 0;) {
        enum merge_result result = stream_layer(s, &s->image->layers[i], err);
        if (result != MERGE_DONE)
            return result;
    }
    if (s->options->count_probes &&
        layer_probes_mean(&s->probes, merge_tree(s->merge), s->report->layers, &s->report->probes,
                          err) < 0)
        return MERGE_FAILED;
    return MERGE_DONE;
}

enum merge_result merged_stream(const struct image *image, const struct merged_options *options,
                                struct entry_sink *sink, struct merged_report *report,
                                struct err *err)
{
    _cleanup_(stream_merge_clear) struct stream_merge s = {
        .image = image, .options = options, .sink = sink, .report = report};

    s.merge = merge_new(err);
    if (s.merge && options->count_probes)
        merge_list_layers(s.merge);
    return s.merge ? stream_all(&s, err) : MERGE_FAILED;
}
