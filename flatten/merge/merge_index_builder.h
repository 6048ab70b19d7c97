/* An index being built: the state, and the files, headers and targets that are added to it. */
#ifndef FLATTEN_MERGE_INDEX_BUILDER_H
#define FLATTEN_MERGE_INDEX_BUILDER_H

#include "flatten/merge/merge_index.h"

/* Building: `own` is the layer at hand by itself (overlay) or the merged tree as well (spec). */
struct index_builder {
    struct merge_index *index;
    struct model own_model;
    struct model *own;
    enum semantics semantics;
    uint64_t max_attributes; /* of merged_options */
    uint32_t layer_mark;     /* in the merged tree: what is older is of older layers */
    const struct layer *layer;
    char **symlinks; /* by inode: where it points; owned */
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

void index_builder_clear(struct index_builder *b);

/* Returns what the tree of b->own has at the node. */
static inline enum model_kind index_builder_kind(const struct index_builder *b, uint32_t node)
{
    return model_kind(b->own, b->index->tree, node);
}

/* Returns the new inode's number, or TREE_NONE with an error. */
uint32_t merge_index_add_inode(struct merge_index *x, unsigned layer, uint32_t ordinal,
                               struct err *err) must_check;

/*
 * Keeps the header of an inode, unless the index is bare; ERR_LIMIT where all that are kept take
 * more than max_attributes.
 */
int index_builder_keep_header(struct index_builder *b, uint32_t inode, struct archive_entry *header,
                              struct err *err) must_check;

/* The same for the header of a further name of the inode. May change `header`. */
int index_builder_keep_link_header(struct index_builder *b, uint32_t inode,
                                   struct archive_entry *header, struct err *err) must_check;

/* Keeps a copy of a symbolic link's target. */
int index_builder_keep_symlink(struct index_builder *b, uint32_t inode, const char *target,
                               struct err *err) must_check;

#endif
