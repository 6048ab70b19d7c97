/*
 * An index: the merged tree of an image, built from the headers of all its layers, oldest first.
 * It is the general way, beside the fast one of merge.h: it implements both semantics, and takes
 * layers in which a path comes twice.
 *
 * Overlay: each layer is unpacked by itself (later entries replace earlier ones, an entry below a
 * symbolic link goes to the link's target), then laid over the layers below as the kernel does.
 * Spec: each entry is applied to the tree so far, through its symbolic links; a whiteout hides only
 * entries of older layers, at any position in its layer (image-spec layer.md, "Whiteouts").
 */
#ifndef FLATTEN_MERGE_INDEX_H
#define FLATTEN_MERGE_INDEX_H

#include "flatten/image/image.h"
#include "flatten/layer/attributes.h"
#include "flatten/layer/layer.h"
#include "flatten/merge/tree/merged_options.h"
#include "flatten/merge/tree/model.h"

/* A file, as distinct from its names. Inodes are in the order of layers and of their entries. */
struct merge_index_inode {
    uint32_t ordinal; /* of the entry with the content */
    uint32_t first;   /* the node of its first name; TREE_NONE: no name is left */
    unsigned layer;
    unsigned described;        /* the layer that `header` is of */
    bool implied;              /* a directory that no entry describes */
    struct attributes *header; /* directories, and files whose links changed attributes */
};

struct merge_index {
    struct tree *tree;
    struct model merged;
    struct model kept; /* the tree of the layers that stay as they are */
    unsigned kept_layers;
    struct merge_index_inode *inodes;
    size_t inode_count, inode_cap;
    uint64_t header_bytes; /* of all headers, in memory */
    bool bare;             /* no headers are kept */
    char *
        *symlinks; /* with an observer: by inode, the target of a symbolic link; NULL for others */
    size_t symlink_cap;
};

/*
 * Watches an index being built, for measuring: then no headers are kept, no digests are checked,
 * and payload is skipped where that is possible. Overlay semantics only. The functions return 0, or
 * -1 with an error to give up.
 */
struct merge_index_observer {
    void *ctx;
    /* Called after each regular file's entry; its content may be read from `reader`. */
    int (*file)(void *ctx, const struct tree *tree, const struct layer *layer,
                struct layer_reader *reader, const struct layer_entry *e, uint32_t node,
                uint32_t inode, struct err *err);
    /* Called after a layer's last entry, for each node that the layer by itself has, parents first.
     */
    int (*holds)(void *ctx, struct tree *tree, unsigned layer, uint32_t node, enum model_kind kind,
                 const struct model_slot *slot, struct err *err);
};

enum { MERGE_INDEX_NO_INODE = 0 }; /* stands for whiteouts, and for a root without an entry */

/*
 * Reads the headers of all layers. Takes the options semantics, kept, max_attributes and notice.
 * `observer` may be NULL; it is borrowed for the call. Adds to *report. The caller frees
 * the index with merge_index_free.
 */
struct merge_index *merge_index_new(const struct image *image, const struct merged_options *options,
                                    const struct merge_index_observer *observer,
                                    struct merged_report *report, struct err *err) must_check;

/* Frees the index. */
void merge_index_free(struct merge_index *x);

DEFINE_CLEANUP(merge_index, struct merge_index, merge_index_free)
#define _cleanup_merge_index_ _cleanup_(cleanup_merge_index)

#endif
