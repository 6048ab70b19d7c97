/*
 * Decides which entries of a stack of layers a container sees, by the rules of overlay engines
 * (moby, containerd, containers/storage). A pure function of the entries, newest layer first.
 *
 * Each layer is a directory tree of its own; the kernel merges them (Documentation/filesystems/
 * overlayfs.rst, "Upper and Lower"; image-spec layer.md, "Whiteouts"):
 *  - the newest layer that has a path decides it; directories merge, with the newest attributes;
 *  - a whiteout, or anything that is not a directory, hides all that is older at its path and
 * below;
 *  - an opaque marker, anywhere in its layer, hides what is older below its directory, and nothing
 *    of its own layer; in the root it does nothing, for overlayfs merges all roots;
 *  - an entry whose directories have no entries gets them, mode 0755 and owned by root, as the
 *    engines do;
 *  - within a layer, an entry below an earlier symbolic link goes to the link's target;
 *  - a hard link is bound to the file that has the target's name in its own layer at that moment.
 *    Where a newer layer hides that name and not the link, the link carries the old content.
 *
 * A visible entry can therefore be written as soon as it is read, except a link to an entry that
 * was hidden when it was read: that is deferred to a second reading of its layer.
 *
 * Some layers cannot be decided in one pass: a path that comes twice, a directory after what is in
 * it, a hard link into an older layer or with attributes of its own. MERGE_CONFLICT says so, and
 * the caller starts again with the index (merge_index.h).
 */
#ifndef FLATTEN_MERGE_H
#define FLATTEN_MERGE_H

#include "flatten/layer/entry_info.h"
#include "flatten/merge/tree/layer_probes.h"
#include "flatten/merge/tree/semantics.h"
#include "flatten/merge/tree/tree.h"

enum { MERGE_MOST_LAYERS = 1000 };

enum merge_action {
    MERGE_SKIP,  /* write nothing */
    MERGE_EMIT,  /* write it, at `node` */
    MERGE_LINK,  /* write it as a hard link to `target`, which was written */
    MERGE_DEFER, /* write it later, at `node`, with the content of this layer's entry `ordinal` */
    MERGE_CONFLICT, /* one pass cannot decide: start again with the index */
};

struct merge_output {
    enum merge_action action;
    uint32_t node;
    uint32_t target;
    uint32_t ordinal;
    const uint32_t *implied; /* directories to write first, outermost first */
    size_t implied_count;
    const char *divergence; /* a DIVERGENCE_ (semantics.h), or NULL */
};

struct merge;

/* The caller frees it with merge_free. */
struct merge *merge_new(struct err *err) must_check;

/* Frees the merge. */
void merge_free(struct merge *m);

DEFINE_CLEANUP(merge, struct merge, merge_free)
#define _cleanup_merge_ _cleanup_(cleanup_merge)

/* Starts the next layer. Layers come newest first; `layer` counts them from the oldest, which is 0.
 */
int merge_begin_layer(struct merge *m, unsigned layer, struct err *err) must_check;

/*
 * Decides one entry of the layer. `in` is borrowed for the call; the pointers in *out are valid
 * until the next call. ERR_FORMAT for an entry that contradicts its layer.
 */
int merge_entry(struct merge *m, const struct entry_info *in, struct merge_output *out,
                struct err *err) must_check;

/*
 * Has the merge list what each layer has. Before the first layer; then merge_list_layer adds the
 * paths of the current layer, after its last entry.
 */
void merge_list_layers(struct merge *m);
int merge_list_layer(const struct merge *m, struct layer_probes *out, struct err *err) must_check;

/* Returns the tree that the nodes of merge_output are of; the merge owns it. */
struct tree *merge_tree(struct merge *m);

#endif
