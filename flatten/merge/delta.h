/*
 * What a layer must hold so that, laid over layers that stay as they are, it shows the merged tree
 * of all. It is what differs between two trees, whatever layers led to them, so that both ways of
 * reading layers (semantics.h) get one that they agree on:
 *
 *  - files that the kept layers do not have at that path, under all their names: a link to a kept
 *    file makes a copy of it, as no engine links across layers;
 *  - directories that are described anew or replace something else, and those that lead to what the
 *    layer holds, with the attributes that they have in the end;
 *  - a whiteout for what is gone, where its directory is still there; never beside what the layer
 *    brings under that name;
 *  - an opaque marker instead of two or more whiteouts, in a directory below which nothing of the
 *    kept layers is seen any more; never in the root, where engines ignore it.
 */
#ifndef FLATTEN_DELTA_H
#define FLATTEN_DELTA_H

#include "flatten/merge/merge_index.h"

enum delta_flag {
    DELTA_WRITE = 1,    /* the directory, or the file under this name */
    DELTA_WHITEOUT = 2, /* a whiteout in its place */
    DELTA_OPAQUE = 4,   /* and an opaque marker in it */
};

struct delta {
    uint8_t *nodes; /* by node of the index: delta_flags, and others while it is made */
    bool *inodes;   /* by inode: a file to be written, with all its names */
    uint32_t count; /* nodes */
};

/* Without kept layers: the whole tree. Cleared with delta_clear, also after a failure. */
int delta_make(const struct merge_index *x, struct delta *out, struct err *err) must_check;
void delta_clear(struct delta *d);

#define _cleanup_delta_ _cleanup_(delta_clear)

#endif
