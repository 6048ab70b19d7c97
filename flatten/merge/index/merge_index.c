#include "flatten/merge/index/merge_index.h"

#include "flatten/merge/index/merge_index_entry.h"
#include "flatten/merge/tree/merged_limits.h"
#include "flatten/merge/tree/merged_notice.h"

#include <string.h>

void merge_index_free(struct merge_index *x)
{
    for (size_t i = 0; i < x->inode_count; i++)
        if (x->inodes[i].header)
            attributes_free(x->inodes[i].header);
    free(x->inodes);
    for (size_t i = 0; i < x->symlink_cap; i++)
        free(x->symlinks[i]);
    free(x->symlinks);
    model_free(&x->merged);
    model_free(&x->kept);
    cleanup_tree(&x->tree);
    free(x);
}

/* Lays one node of the layer over the merged tree, as the kernel's overlay does. */
static int lay_over(struct index_builder *b, uint32_t node, enum model_kind kind, struct err *err)
{
    struct merge_index *x = b->index;
    struct model *merged = &x->merged;
    const struct model_slot own = b->own->slots[node];
    bool dir_stays =
        kind == MODEL_DIR && !own.opaque && model_kind(merged, x->tree, node) == MODEL_DIR;

    if (node == TREE_ROOT && own.stamp == 0)
        return 0; /* the layer has no entry for the root */
    if (!dir_stays && node != TREE_ROOT && model_empty(merged, node, model_mark(merged), err) < 0)
        return -1;
    return model_set(merged, node, kind == MODEL_WHITEOUT ? MODEL_NOTHING : kind, own.inode, err);
}

static int list_node(struct index_builder *b, uint32_t node, enum model_kind kind, struct err *err)
{
    enum layer_probe_kind probe = kind == MODEL_WHITEOUT       ? PROBE_WHITEOUT
                                  : kind != MODEL_DIR          ? PROBE_FILE
                                  : b->own->slots[node].opaque ? PROBE_OPAQUE_DIR
                                                               : PROBE_DIR;

    return layer_probes_add(&b->probes, node, b->layer->number, probe, err);
}

/* Nodes are numbered parents first, so directories are laid before their content. */
static int lay_layer(struct index_builder *b, struct err *err)
{
    for (uint32_t node = 0; node < tree_count(b->index->tree) && node < b->own->count; node++) {
        enum model_kind kind = index_builder_kind(b, node);
        if (kind == MODEL_NOTHING)
            continue;
        if (b->observer && b->observer->holds(b->observer->ctx, b->index->tree, b->layer->number,
                                              node, kind, &b->own->slots[node], err) < 0)
            return -1;
        if ((b->count_probes && list_node(b, node, kind, err) < 0) ||
            lay_over(b, node, kind, err) < 0)
            return -1;
    }
    return 0;
}

static int begin_layer(struct index_builder *b, const struct layer *layer, struct err *err)
{
    b->layer = layer;
    if (b->semantics == SEMANTICS_SPEC) {
        b->own = &b->index->merged;
        b->layer_mark = model_mark(b->own);
        return 0;
    }
    b->own = &b->own_model;
    b->own->clock = 0;
    if (b->own->count)
        memset(b->own->slots, 0, b->own->count * sizeof(*b->own->slots));
    b->layer_mark = model_mark(b->own);
    return model_slot(b->own, TREE_ROOT, err) ? 0 : -1;
}

static void count_entry(const struct index_builder *b, const struct layer_entry *e,
                        const struct merged_options *options, struct merged_report *report)
{
    report->entries_in++;
    if (b->layer->number <= b->index->kept_layers) {
        report->entries_kept++;
        return;
    }
    if (e->info.kind == ENTRY_FILE)
        report->payload_in += (uint64_t)archive_entry_size(e->header);
    merged_notice_entry(options, report, b->layer, e, b->divergence);
}

static int add_layer(struct index_builder *b, const struct layer *layer,
                     const struct merged_options *options, struct merged_report *report,
                     struct err *err)
{
    _cleanup_layer_reader_ struct layer_reader *reader =
        b->observer ? layer_reader_open_unchecked(layer, err) : layer_reader_open(layer, err);
    struct layer_entry e;
    int rc;

    if (!reader || begin_layer(b, layer, err) < 0)
        return -1;
    while ((rc = layer_reader_next(reader, &e, err)) > 0) {
        int applied = merge_index_apply(b, &e, err);
        b->entry = NULL;
        if (applied < 0 || merged_check_implied(b->index->tree, report, err) < 0)
            return layer_entry_wrap(layer, &e, err);
        if (e.info.kind == ENTRY_FILE && b->observer &&
            b->observer->file(b->observer->ctx, b->index->tree, layer, reader, &e, b->entered,
                              (uint32_t)b->index->inode_count - 1, err) < 0)
            return -1;
        count_entry(b, &e, options, report);
    }
    if (rc < 0 || (b->semantics != SEMANTICS_SPEC && lay_layer(b, err) < 0))
        return -1;
    if (layer->number == b->index->kept_layers)
        return model_copy(&b->index->merged, &b->index->kept, err);
    return 0;
}

/* Sets the first name of each file that is left; its other names will be links to that. */
static void name_inodes(struct merge_index *x)
{
    for (uint32_t node = tree_count(x->tree); node-- > 1;)
        if (model_is_file(model_kind(&x->merged, x->tree, node)))
            x->inodes[x->merged.slots[node].inode].first = node;
}

struct merge_index *merge_index_new(const struct image *image, const struct merged_options *options,
                                    const struct merge_index_observer *observer,
                                    struct merged_report *report, struct err *err)
{
    _cleanup_merge_index_ struct merge_index *x = calloc(1, sizeof(*x));
    _cleanup_(index_builder_clear) struct index_builder b = {
        .index = x,
        .semantics = options->semantics,
        .observer = observer,
        .max_attributes = options->max_attributes,
        .count_probes = options->count_probes && options->semantics != SEMANTICS_SPEC,
    };

    if (!x) {
        err_nomem(err);
        return NULL;
    }
    x->kept_layers = (unsigned)options->kept;
    x->bare = observer != NULL;
    x->tree = tree_new(err);
    if (!x->tree || merge_index_add_inode(x, 0, 0, err) == TREE_NONE)
        return NULL;
    model_mark(&x->merged);
    for (size_t i = 0; i < image->layer_count; i++)
        if (add_layer(&b, &image->layers[i], options, report, err) < 0)
            return NULL;
    if (b.count_probes && layer_probes_mean(&b.probes, x->tree, (unsigned)image->layer_count,
                                            &report->probes, err) < 0)
        return NULL;
    name_inodes(x);
    if (observer) {
        x->symlinks = steal_ptr(&b.symlinks);
        x->symlink_cap = b.symlink_cap;
        b.symlink_cap = 0;
    }
    return steal_ptr(&x);
}
