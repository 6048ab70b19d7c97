/* What the halves of the index share: its builder, and walking (merge_index_walk.c). */
#ifndef FLATTEN_MERGE_INDEX_BUILDER_H
#define FLATTEN_MERGE_INDEX_BUILDER_H

#include "flatten/merge/merge_index.h"

/* Building: `own` is the layer at hand by itself (overlay) or the merged tree as well (spec). */
struct builder {
    struct merge_index *index;
    struct model own_model;
    struct model *own;
    enum semantics semantics;
    uint64_t max_attributes; /* of merged_options */
    uint32_t layer_mark;     /* in the merged tree: what is older is of older layers */
    const struct layer *layer;
    const char **symlinks; /* by inode: where it points; owned */
    size_t symlink_cap;
    struct buf rest;
    uint32_t *floors; /* of the directories that a walk is in, by depth: model_floor */
    size_t floor_cap;
    const char *divergence;
    const struct layer_entry *entry;             /* at hand */
    const struct merge_index_observer *observer; /* or NULL */
    uint32_t entered;                            /* the node of the file entered last */
    bool whiteout;                               /* being entered, or an opaque marker */
    bool ignored; /* it lies below a whiteout of its own layer: nothing to do */
};

static inline enum model_kind index_kind(struct builder *b, uint32_t node)
{
    return model_kind(b->own, b->index->tree, node);
}

/* A new inode's number, or TREE_NONE. */
uint32_t merge_index_add_inode(struct merge_index *x, unsigned layer, uint32_t ordinal,
                               struct err *err) must_check;

/*
 * The node of a path, through the symbolic links that are there; TREE_NONE on failure, and with
 * b->ignored below a whiteout. With `make`, its parents are made.
 */
uint32_t merge_index_walk(struct builder *b, const char *path, size_t len, bool make,
                          struct err *err) must_check;

#endif
