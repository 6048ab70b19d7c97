#include "flatten/merge/delta.h"

/* While it is made, with delta_flag in one byte. */
enum {
    KEEPS = 8,       /* something of the kept layers is still seen below */
    HIDES = 16,      /* a name of the kept layers in it is gone */
    HIDES_MORE = 32, /* and another */
    COVERED = 64,    /* an opaque marker further up hides it all */
};

void delta_clear(struct delta *d)
{
    free(d->nodes);
    free(d->inodes);
    *d = (struct delta){0};
}

static enum model_kind merged_kind(const struct merge_index *x, uint32_t node)
{
    return model_kind(&x->merged, x->tree, node);
}

static enum model_kind kept_kind(const struct merge_index *x, uint32_t node)
{
    return model_kind(&x->kept, x->tree, node);
}

/* True if what is at the node is what the kept layers have there, and described as they do. */
static bool is_kept(const struct merge_index *x, uint32_t node)
{
    if (node >= x->kept.count || kept_kind(x, node) != merged_kind(x, node))
        return false;
    uint32_t inode = x->merged.slots[node].inode;

    return x->kept.slots[node].inode == inode && x->inodes[inode].described <= x->kept_layers;
}

/* One changed name makes the whole file one to write, or its names would come apart. */
static void mark_files(const struct merge_index *x, struct delta *d)
{
    for (uint32_t node = 1; node < d->count; node++)
        if (model_is_file(merged_kind(x, node)) && !is_kept(x, node))
            d->inodes[x->merged.slots[node].inode] = true;
}

/* What the node itself asks for; what it means to its directory is left in *up. */
static void mark_node(const struct merge_index *x, struct delta *d, uint32_t node, uint8_t *up)
{
    enum model_kind kind = merged_kind(x, node);
    uint8_t *flags = &d->nodes[node];

    if (kind == MODEL_NOTHING) {
        if (kept_kind(x, node) == MODEL_NOTHING ||
            merged_kind(x, tree_parent(x->tree, node)) != MODEL_DIR)
            return;
        *flags |= DELTA_WHITEOUT;
        *up |= DELTA_WRITE | (*up & HIDES ? HIDES_MORE : HIDES);
        return;
    }
    bool written = kind == MODEL_DIR ? !is_kept(x, node) : d->inodes[x->merged.slots[node].inode];
    if (written)
        *flags |= DELTA_WRITE;
    else
        *up |= KEEPS;
    *up |= *flags & (DELTA_WRITE | KEEPS);
}

/* An opaque marker in place of whiteouts, from the top down. */
static void mark_opaque(const struct merge_index *x, struct delta *d, uint32_t node)
{
    uint8_t *flags = &d->nodes[node], up = d->nodes[tree_parent(x->tree, node)];

    if (up & (DELTA_OPAQUE | COVERED))
        *flags = (uint8_t)((*flags & ~DELTA_WHITEOUT) | COVERED);
    else if ((*flags & (HIDES_MORE | KEEPS)) == HIDES_MORE)
        *flags |= DELTA_OPAQUE;
}

int delta_make(const struct merge_index *x, struct delta *out, struct err *err)
{
    const struct model_slot *root = x->merged.count ? &x->merged.slots[TREE_ROOT] : NULL;

    out->count = tree_count(x->tree);
    out->nodes = calloc(out->count, sizeof(*out->nodes));
    out->inodes = calloc(x->inode_count, sizeof(*out->inodes));
    if (!out->nodes || !out->inodes)
        return err_nomem(err);
    mark_files(x, out);
    /* Nodes are numbered parents first. */
    for (uint32_t node = out->count; node-- > 1;)
        mark_node(x, out, node, &out->nodes[tree_parent(x->tree, node)]);
    out->nodes[TREE_ROOT] = 0; /* it is there anyway */
    for (uint32_t node = 1; node < out->count; node++)
        mark_opaque(x, out, node);
    if (root && root->kind == MODEL_DIR && x->inodes[root->inode].layer > x->kept_layers)
        out->nodes[TREE_ROOT] = DELTA_WRITE;
    return 0;
}
