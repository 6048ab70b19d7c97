#include "flatten/merge/index/merge_index_entry.h"

#include "flatten/merge/index/merge_index_walk.h"
#include "flatten/merge/tree/semantics.h"

#include <string.h>

static int replace_node(struct index_builder *b, uint32_t node, enum model_kind kind,
                        uint32_t inode, struct err *err)
{
    if (model_empty(b->own, node, model_mark(b->own), err) < 0)
        return -1;
    return model_set(b->own, node, kind, inode, err);
}

static int apply_dir(struct index_builder *b, uint32_t node, const struct layer_entry *e,
                     struct err *err)
{
    enum model_kind kind = index_builder_kind(b, node);
    uint32_t inode = merge_index_add_inode(b->index, b->layer->number, e->info.ordinal, err);

    if (inode == TREE_NONE || index_builder_keep_header(b, inode, e->header, err) < 0)
        return -1;
    if (kind == MODEL_DIR) {
        struct model_slot *slot = model_slot(b->own, node, err);
        if (!slot)
            return -1;
        slot->inode = inode; /* new attributes; with this stamp whiteouts of this layer spare it */
        slot->stamp = b->own->clock;
        return 0;
    }
    if (kind == MODEL_WHITEOUT)
        b->divergence = DIVERGENCE_WHITEOUT_DIR;
    return replace_node(b, node, MODEL_DIR, inode, err);
}

/* Returns the slot of a link's target: in the layer itself, else in the layers below; or NULL. */
static const struct model_slot *find_target(struct index_builder *b, uint32_t node)
{
    struct merge_index *x = b->index;
    enum model_kind kind = index_builder_kind(b, node);

    if (model_is_file(kind))
        return &b->own->slots[node];
    if (kind != MODEL_NOTHING || b->own == &x->merged)
        return NULL;
    kind = model_kind(&x->merged, x->tree, node);
    if (!model_is_file(kind))
        return NULL;
    b->divergence = DIVERGENCE_OLD_LINK;
    return &x->merged.slots[node];
}

static int apply_link(struct index_builder *b, const struct layer_entry *e, struct err *err)
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
    if (index_builder_keep_link_header(b, inode, e->header, err) < 0)
        return -1;
    return node == target ? 0 : replace_node(b, node, kind, inode, err);
}

static int apply_other(struct index_builder *b, uint32_t node, const struct layer_entry *e,
                       struct err *err)
{
    enum model_kind kind = e->info.kind == ENTRY_SYMLINK ? MODEL_SYMLINK : MODEL_OTHER;
    uint32_t inode = merge_index_add_inode(b->index, b->layer->number, e->info.ordinal, err);

    if (inode == TREE_NONE)
        return -1;
    if (kind == MODEL_SYMLINK && index_builder_keep_symlink(b, inode, e->info.link, err) < 0)
        return -1;
    b->entered = node;
    return replace_node(b, node, kind, inode, err);
}

static int apply_whiteout(struct index_builder *b, uint32_t node, struct err *err)
{
    enum model_kind kind = index_builder_kind(b, node);
    struct model_slot *slot = model_slot(b->own, node, err);

    if (!slot)
        return -1;
    if (b->semantics == SEMANTICS_SPEC) {
        if (slot->stamp < b->layer_mark)
            slot->kind = MODEL_NOTHING;
        return model_empty(b->own, node, b->layer_mark, err);
    }
    if (kind == MODEL_NOTHING)
        return replace_node(b, node, MODEL_WHITEOUT, MERGE_INDEX_NO_INODE, err);
    if (kind == MODEL_DIR && b->index->inodes[slot->inode].implied)
        return err_set(err, ERR_FORMAT,
                       "a whiteout of a directory that the same layer has entries "
                       "in: engines refuse to unpack it");
    slot->opaque = true;
    b->divergence = DIVERGENCE_WHITEOUT_AFTER;
    return 0;
}

static int apply_opaque(struct index_builder *b, uint32_t node, struct err *err)
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

/* Returns the directory of an opaque marker, which implies it: the walk is to the parent of ".". */
static uint32_t opaque_node(struct index_builder *b, const struct layer_entry *e, struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_append(&path, e->info.path, e->info.path_len);
    buf_puts(&path, "/.");
    return buf_check(&path, err) < 0
               ? TREE_NONE
               : merge_index_walk(b, path.data, path.len, b->semantics == SEMANTICS_OVERLAY, err);
}

static int apply_root(struct index_builder *b, const struct layer_entry *e, struct err *err)
{
    if (e->info.kind != ENTRY_DIR)
        return err_set(err, ERR_FORMAT, "the root is not a directory");
    uint32_t inode = merge_index_add_inode(b->index, b->layer->number, e->info.ordinal, err);
    if (inode == TREE_NONE || index_builder_keep_header(b, inode, e->header, err) < 0)
        return -1;
    return model_set(b->own, TREE_ROOT, MODEL_DIR, inode, err);
}

int merge_index_apply(struct index_builder *b, const struct layer_entry *e, struct err *err)
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
