/* An index being built: the state, and the files, headers and targets that are added to it. */
#ifndef FLATTEN_MERGE_INDEX_BUILDER_H
#define FLATTEN_MERGE_INDEX_BUILDER_H

#include "flatten/merge/index/merge_index.h"
#include "flatten/merge/tree/layer_probes.h"

/* `own` is the tree of the current layer alone (overlay), or the merged tree (spec). */
struct index_builder {
    struct merge_index *index;
    struct model own_model;
    struct model *own;
    enum semantics semantics;
    uint64_t max_attributes; /* of merged_options */
    uint32_t layer_mark;     /* nodes of `own` that were set before are of older layers */
    const struct layer *layer;
    char **symlinks; /* by inode: its target; owned */
    size_t symlink_cap;
    struct buf rest;
    uint32_t *floors; /* of the directories on the current walk, by depth: model_floor */
    size_t floor_cap;
    const char *divergence;
    const struct layer_entry *entry;             /* the current one; NULL between entries */
    const struct merge_index_observer *observer; /* or NULL */
    struct layer_probes probes;                  /* with count_probes */
    bool count_probes;
    uint32_t entered; /* the node of the file entered last */
    bool whiteout;    /* `entry` is a whiteout or an opaque marker */
    bool ignored;     /* `entry` is a whiteout below a whiteout of its own layer: no effect */
};

/* Frees what is only needed to build; the index stays. */
void index_builder_clear(struct index_builder *b);

/* Returns the kind of the node in b->own. */
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
