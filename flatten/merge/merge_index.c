#include "flatten/merge/merge_index_builder.h"

#include "flatten/layer/emit.h"
#include "flatten/merge/merge.h"

#include <string.h>

void merge_index_free(struct merge_index *x)
{
    for (size_t i = 0; i < x->inode_count; i++)
        if (x->inodes[i].header)
            attributes_free(x->inodes[i].header);
    free(x->inodes);
    model_free(&x->merged);
    model_free(&x->kept);
    cleanup_tree(&x->tree);
    free(x);
}

static void builder_clear(struct builder *b)
{
    for (size_t i = 0; i < b->symlink_cap; i++)
        free((char *)(uintptr_t)b->symlinks[i]);
    free(b->symlinks);
    model_free(&b->own_model);
    buf_free(&b->rest);
    free(b->floors);
}

uint32_t merge_index_add_inode(struct merge_index *x, unsigned layer, uint32_t ordinal,
                               struct err *err)
{
    if (x->inode_count == x->inode_cap) {
        size_t cap = x->inode_cap ? x->inode_cap * 2 : 1024;
        struct merge_index_inode *bigger = realloc(x->inodes, cap * sizeof(*bigger));
        if (!bigger || cap > UINT32_MAX) {
            err_nomem(err);
            return TREE_NONE;
        }
        x->inodes = bigger;
        x->inode_cap = cap;
    }
    x->inodes[x->inode_count] =
        (struct merge_index_inode){.ordinal = ordinal, .first = TREE_NONE, .layer = layer};
    return (uint32_t)x->inode_count++;
}

/* Takes `copy`, NULL for one that could not be made. */
static int put_header(struct builder *b, uint32_t inode, struct attributes *copy, struct err *err)
{
    struct merge_index_inode *i = &b->index->inodes[inode];

    if (!copy)
        return -1;
    if (i->header)
        b->index->header_bytes -= attributes_size(i->header);
    cleanup_attributes(&i->header);
    i->header = copy;
    b->index->header_bytes += attributes_size(copy);
    if (merged_check_attributes(b->max_attributes, b->index->header_bytes, "directories", err) < 0)
        return -1;
    i->described = b->layer->number;
    return 0;
}

static int keep_header(struct builder *b, uint32_t inode, struct archive_entry *header,
                       struct err *err)
{
    return b->index->bare ? 0 : put_header(b, inode, attributes_of(header, err), err);
}

/* Engines apply a link's header to the file, xattrs adding up; the spec's way ignores it. */
static int keep_link_header(struct builder *b, uint32_t inode, struct archive_entry *header,
                            struct err *err)
{
    const struct attributes *kept = b->index->inodes[inode].header;

    if (b->semantics == SEMANTICS_SPEC)
        return 0;
    if (kept && archive_entry_xattr_count(header) == 0)
        return put_header(b, inode, attributes_with_xattrs(header, kept, err), err);
    if (kept) {
        _cleanup_entry_ struct archive_entry *old = attributes_entry(kept, err);
        if (!old || emit_adopt(header, old, err) < 0)
            return -1;
    }
    return keep_header(b, inode, header, err);
}

static int keep_symlink(struct builder *b, uint32_t inode, const char *target, struct err *err)
{
    if (inode >= b->symlink_cap) {
        size_t cap = (size_t)inode * 2 + 64;
        const char **bigger = realloc(b->symlinks, cap * sizeof(*bigger));
        if (!bigger)
            return err_nomem(err);
        memset(bigger + b->symlink_cap, 0, (cap - b->symlink_cap) * sizeof(*bigger));
        b->symlinks = bigger;
        b->symlink_cap = cap;
    }
    b->symlinks[inode] = strdup(target);
    return b->symlinks[inode] ? 0 : err_nomem(err);
}

/* ---- entries ---- */

static int replace(struct builder *b, uint32_t node, enum model_kind kind, uint32_t inode,
                   struct err *err)
{
    if (model_empty(b->own, node, model_mark(b->own), err) < 0)
        return -1;
    return model_set(b->own, node, kind, inode, err);
}

static int apply_dir(struct builder *b, uint32_t node, const struct layer_entry *e, struct err *err)
{
    enum model_kind kind = index_kind(b, node);
    uint32_t inode = merge_index_add_inode(b->index, b->layer->number, e->info.ordinal, err);

    if (inode == TREE_NONE || keep_header(b, inode, e->header, err) < 0)
        return -1;
    if (kind == MODEL_DIR) {
        struct model_slot *slot = model_slot(b->own, node, err);
        if (!slot)
            return -1;
        slot->inode = inode; /* new attributes; whiteouts of this layer spare it */
        slot->stamp = b->own->clock;
        return 0;
    }
    if (kind == MODEL_WHITEOUT)
        b->divergence = DIVERGENCE_WHITEOUT_DIR;
    return replace(b, node, MODEL_DIR, inode, err);
}

/* Where the link's target lives: in the layer itself, else below it. */
static const struct model_slot *find_target(struct builder *b, uint32_t node)
{
    struct merge_index *x = b->index;
    enum model_kind kind = index_kind(b, node);

    if (kind == MODEL_SYMLINK || kind == MODEL_OTHER)
        return &b->own->slots[node];
    if (kind != MODEL_NOTHING || b->own == &x->merged)
        return NULL;
    kind = model_kind(&x->merged, x->tree, node);
    if (kind != MODEL_SYMLINK && kind != MODEL_OTHER)
        return NULL;
    b->divergence = DIVERGENCE_OLD_LINK;
    return &x->merged.slots[node];
}

static int apply_link(struct builder *b, const struct layer_entry *e, struct err *err)
{
    uint32_t node = merge_index_walk(b, e->info.path, e->info.path_len, true, err);
    uint32_t target = node == TREE_NONE
                          ? TREE_NONE
                          : merge_index_walk(b, e->info.link, e->info.link_len, false, err);
    if (target == TREE_NONE)
        return -1;
    const struct model_slot *slot = find_target(b, target);
    if (!slot)
        return err_set(err, ERR_FORMAT, "hard link: its target does not exist or is a directory");
    uint32_t inode = slot->inode;
    enum model_kind kind = slot->kind;
    if (keep_link_header(b, inode, e->header, err) < 0)
        return -1;
    return node == target ? 0 : replace(b, node, kind, inode, err);
}

static int apply_other(struct builder *b, uint32_t node, const struct layer_entry *e,
                       struct err *err)
{
    enum model_kind kind = e->info.kind == ENTRY_SYMLINK ? MODEL_SYMLINK : MODEL_OTHER;
    uint32_t inode = merge_index_add_inode(b->index, b->layer->number, e->info.ordinal, err);

    if (inode == TREE_NONE)
        return -1;
    if (kind == MODEL_SYMLINK && keep_symlink(b, inode, e->info.link, err) < 0)
        return -1;
    b->entered = node;
    return replace(b, node, kind, inode, err);
}

static int apply_whiteout(struct builder *b, uint32_t node, struct err *err)
{
    enum model_kind kind = index_kind(b, node);
    struct model_slot *slot = model_slot(b->own, node, err);

    if (!slot)
        return -1;
    if (b->semantics == SEMANTICS_SPEC) {
        if (slot->stamp < b->layer_mark)
            slot->kind = MODEL_NOTHING;
        return model_empty(b->own, node, b->layer_mark, err);
    }
    if (kind == MODEL_NOTHING)
        return replace(b, node, MODEL_WHITEOUT, MERGE_INDEX_NO_INODE, err);
    if (kind == MODEL_DIR && b->index->inodes[slot->inode].implied)
        return err_set(err, ERR_FORMAT,
                       "a whiteout of a directory that the same layer has entries "
                       "in: engines refuse to unpack it");
    slot->opaque = true;
    b->divergence = DIVERGENCE_WHITEOUT_AFTER;
    return 0;
}

static int apply_opaque(struct builder *b, uint32_t node, struct err *err)
{
    if (b->semantics == SEMANTICS_SPEC)
        return model_empty(b->own, node, b->layer_mark, err);
    if (node == TREE_ROOT) {
        b->divergence = DIVERGENCE_OPAQUE_ROOT;
        return 0;
    }
    struct model_slot *slot = model_slot(b->own, node, err);
    if (!slot)
        return -1;
    slot->opaque = true;
    return 0;
}

/* The opaque marker's own directory is implied by it: walked to as the parent of ".". */
static uint32_t opaque_node(struct builder *b, const struct layer_entry *e, struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_append(&path, e->info.path, e->info.path_len);
    buf_puts(&path, "/.");
    return buf_check(&path, err) < 0
               ? TREE_NONE
               : merge_index_walk(b, path.data, path.len, b->semantics == SEMANTICS_OVERLAY, err);
}

static int apply_root(struct builder *b, const struct layer_entry *e, struct err *err)
{
    if (e->info.kind != ENTRY_DIR)
        return err_set(err, ERR_FORMAT, "the root is not a directory");
    uint32_t inode = merge_index_add_inode(b->index, b->layer->number, e->info.ordinal, err);
    if (inode == TREE_NONE || keep_header(b, inode, e->header, err) < 0)
        return -1;
    return model_set(b->own, TREE_ROOT, MODEL_DIR, inode, err);
}

static int apply(struct builder *b, const struct layer_entry *e, struct err *err)
{
    b->entry = e;
    b->divergence = NULL;
    b->ignored = false;
    b->whiteout = e->info.kind == ENTRY_WHITEOUT || e->info.kind == ENTRY_OPAQUE;
    if (e->info.kind == ENTRY_OPAQUE) {
        uint32_t dir = opaque_node(b, e, err);
        if (b->ignored)
            return 0;
        return dir == TREE_NONE ? -1 : apply_opaque(b, dir, err);
    }
    if (e->info.path_len == 0)
        return apply_root(b, e, err);
    if (e->info.kind == ENTRY_HARDLINK)
        return apply_link(b, e, err);
    bool whiteout = e->info.kind == ENTRY_WHITEOUT;
    bool make = !whiteout || b->semantics == SEMANTICS_OVERLAY;
    uint32_t node = merge_index_walk(b, e->info.path, e->info.path_len, make, err);
    if (b->ignored)
        return 0;
    if (node == TREE_NONE)
        return -1;
    if (whiteout)
        return apply_whiteout(b, node, err);
    return e->info.kind == ENTRY_DIR ? apply_dir(b, node, e, err) : apply_other(b, node, e, err);
}

/* ---- layers ---- */

/* Lays one node of the layer over the merged tree, as the kernel's overlay does. */
static int lay_over(struct builder *b, uint32_t node, enum model_kind kind, struct err *err)
{
    struct merge_index *x = b->index;
    struct model *merged = &x->merged;
    const struct model_slot own = b->own->slots[node];
    bool dir_stays =
        kind == MODEL_DIR && !own.opaque && model_kind(merged, x->tree, node) == MODEL_DIR;

    if (node == TREE_ROOT && own.stamp == 0)
        return 0; /* the layer says nothing of the root */
    if (!dir_stays && node != TREE_ROOT && model_empty(merged, node, model_mark(merged), err) < 0)
        return -1;
    return model_set(merged, node, kind == MODEL_WHITEOUT ? MODEL_NOTHING : kind, own.inode, err);
}

/* Nodes are numbered parents first, so this order lays directories before what is in them. */
static int lay_layer(struct builder *b, struct err *err)
{
    for (uint32_t node = 0; node < tree_count(b->index->tree) && node < b->own->count; node++) {
        enum model_kind kind = index_kind(b, node);
        if (kind == MODEL_NOTHING)
            continue;
        if (b->observer && b->observer->holds(b->observer->ctx, b->index->tree, b->layer->number,
                                              node, kind, &b->own->slots[node], err) < 0)
            return -1;
        if (lay_over(b, node, kind, err) < 0)
            return -1;
    }
    return 0;
}

static int begin_layer(struct builder *b, const struct layer *layer, struct err *err)
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

static void count_entry(const struct builder *b, const struct layer_entry *e,
                        const struct merged_options *options, struct merged_report *report)
{
    report->entries_in++;
    if (b->layer->number <= b->index->kept_layers) {
        report->entries_kept++;
        return;
    }
    if (e->info.kind == ENTRY_FILE)
        report->payload_in += (uint64_t)archive_entry_size(e->header);
    report->divergences += b->divergence != NULL;
    if (b->divergence && options->notice)
        options->notice(options->notice_ctx, b->layer->number, e->info.path, b->divergence);
    report->dropped += e->dropped != NULL;
    if (e->dropped && options->notice)
        options->notice(options->notice_ctx, b->layer->number, e->info.path, e->dropped);
}

static int add_layer(struct builder *b, const struct layer *layer,
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
        int applied = apply(b, &e, err);
        b->entry = NULL;
        if (applied < 0 || merged_check_implied(b->index->tree, report, err) < 0)
            return layer_entry_wrap(layer, &e, err);
        if (e.info.kind == ENTRY_FILE && b->observer &&
            b->observer->file(b->observer->ctx, layer, reader, &e, b->entered,
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

/* Gives each file that is left the first of its names; the others will be links. */
static void name_inodes(struct merge_index *x)
{
    for (uint32_t node = tree_count(x->tree); node-- > 1;) {
        enum model_kind kind = model_kind(&x->merged, x->tree, node);
        if (kind == MODEL_SYMLINK || kind == MODEL_OTHER)
            x->inodes[x->merged.slots[node].inode].first = node;
    }
}

struct merge_index *merge_index_new(const struct image *image, const struct merged_options *options,
                                    struct merged_report *report, struct err *err)
{
    _cleanup_merge_index_ struct merge_index *x = calloc(1, sizeof(*x));
    _cleanup_(builder_clear) struct builder b = {
        .index = x,
        .semantics = options->semantics,
        .observer = options->observer,
        .max_attributes = options->max_attributes,
    };

    if (!x) {
        err_nomem(err);
        return NULL;
    }
    x->kept_layers = (unsigned)options->kept;
    x->bare = options->observer != NULL;
    x->tree = tree_new(err);
    if (!x->tree || merge_index_add_inode(x, 0, 0, err) == TREE_NONE)
        return NULL;
    model_mark(&x->merged);
    for (size_t i = 0; i < image->layer_count; i++)
        if (add_layer(&b, &image->layers[i], options, report, err) < 0)
            return NULL;
    name_inodes(x);
    return steal_ptr(&x);
}
