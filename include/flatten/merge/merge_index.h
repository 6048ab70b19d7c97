/*
 * The merged tree of an image from the headers of all its layers, oldest first: the general way,
 * beside the fast one of merge.h. It knows both semantics, and layers in which a path comes twice.
 *
 * Overlay: each layer is unpacked by itself (later entries replace earlier ones, entries below a
 * symbolic link go where it points), then laid over what is below as the kernel does. Spec: each
 * entry is applied to the tree so far, through whatever symbolic links it has; whiteouts hide only
 * what older layers brought, wherever they stand in their layer (image-spec layer.md, "Whiteouts").
 */
#ifndef FLATTEN_MERGE_INDEX_H
#define FLATTEN_MERGE_INDEX_H

#include "flatten/image/image.h"
#include "flatten/layer/attributes.h"
#include "flatten/layer/layer.h"
#include "flatten/merge/merged_options.h"
#include "flatten/merge/model.h"

/* A file, as distinct from its names. In the order of layers and of entries within them. */
struct merge_index_inode {
    uint32_t ordinal; /* of the entry that brought the content */
    uint32_t first;   /* the name it gets; TREE_NONE: it has none left */
    unsigned layer;
    unsigned described;        /* the layer that `header` is of */
    bool implied;              /* a directory that no entry describes */
    struct attributes *header; /* directories, and files whose links changed attributes */
};

struct merge_index {
    struct tree *tree;
    struct model merged;
    struct model kept; /* what the layers that stay as they are show by themselves */
    unsigned kept_layers;
    struct merge_index_inode *inodes;
    size_t inode_count, inode_cap;
    uint64_t header_bytes; /* of all headers */
    bool bare;             /* keeps no headers */
};

/*
 * Watches an index being built, for measuring: then headers are not kept, digests not checked and
 * payload is not read where it can be skipped. Overlay semantics only. 0, or -1 to give up.
 */
struct merge_index_observer {
    void *ctx;
    /* A regular file's entry was entered; its content may be read. */
    int (*file)(void *ctx, const struct layer *layer, struct layer_reader *reader,
                const struct layer_entry *e, uint32_t node, uint32_t inode, struct err *err);
    /* After a layer's last entry, parents first: what the layer by itself holds at a node. */
    int (*holds)(void *ctx, struct tree *tree, unsigned layer, uint32_t node, enum model_kind kind,
                 const struct model_slot *slot, struct err *err);
};

enum { MERGE_INDEX_NO_INODE = 0 }; /* of whiteouts, and of a root that no entry describes */

/*
 * Reads the headers of all layers. Of the options it takes semantics, kept, max_attributes and
 * notice. `observer` may be NULL; it is borrowed for the call. Adds to *report. The caller frees
 * the index with merge_index_free.
 */
struct merge_index *merge_index_new(const struct image *image, const struct merged_options *options,
                                    const struct merge_index_observer *observer,
                                    struct merged_report *report, struct err *err) must_check;
void merge_index_free(struct merge_index *x);

DEFINE_CLEANUP(merge_index, struct merge_index, merge_index_free)
#define _cleanup_merge_index_ _cleanup_(cleanup_merge_index)

#endif
