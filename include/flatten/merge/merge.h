/*
 * Which entries of a stack of layers a container sees: the rules of overlay engines (moby,
 * containerd, containers/storage), as a pure function fed newest layer first.
 *
 * Each layer is a directory tree of its own; the kernel merges them (Documentation/filesystems/
 * overlayfs.rst, "Upper and Lower"; image-spec layer.md, "Whiteouts"):
 *  - what the newest layer says of a path holds; directories merge, with the newest attributes;
 *  - a whiteout, or anything that is not a directory, hides all that is older at and below its
 * path;
 *  - an opaque marker, anywhere in its layer, hides what is older below its directory, and nothing
 *    of its own layer; in the root it does nothing, for overlayfs merges all roots;
 *  - an entry that comes without its directories gets them, 0755 and root's, as the engines do;
 *  - within a layer, entries below a symbolic link that came before go where it points;
 *  - a hard link is bound to what bore the target's name in its own layer. When that name is hidden
 *    by a newer layer and the link is not, the link carries the old content.
 *
 * A survivor can therefore be written as soon as it is read, but for links whose content went by
 * hidden: those are deferred to a second look at their layer.
 *
 * Some layers cannot be decided in one pass: a path that comes twice, a directory after what is in
 * it, a hard link into an older layer or with attributes of its own. MERGE_CONFLICT says so, and
 * the caller starts again with the index (merge_index.h).
 */
#ifndef FLATTEN_MERGE_H
#define FLATTEN_MERGE_H

#include "flatten/layer/entry_info.h"
#include "flatten/merge/semantics.h"
#include "flatten/merge/tree.h"

enum { MERGE_MOST_LAYERS = 1000 };

enum merge_action {
    MERGE_SKIP,
    MERGE_EMIT,  /* write it, at `node` */
    MERGE_LINK,  /* write it as a hard link to `target`, which was written */
    MERGE_DEFER, /* write it later, at `node`, with the content of this layer's entry `ordinal` */
    MERGE_CONFLICT,
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

struct merge *merge_new(struct err *err) must_check;
void merge_free(struct merge *m);

DEFINE_CLEANUP(merge, struct merge, merge_free)
#define _cleanup_merge_ _cleanup_(cleanup_merge)

/* Layers come newest first; `layer` counts them from the oldest, which is 0. */
int merge_begin_layer(struct merge *m, unsigned layer, struct err *err) must_check;

/* Decides one entry. What `out` points to is valid until the next call. */
int merge_entry(struct merge *m, const struct entry_info *in, struct merge_output *out,
                struct err *err) must_check;

struct tree *merge_tree(struct merge *m);

#endif
