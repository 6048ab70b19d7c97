/*
 * A delta: the content of a layer that, laid over layers that stay as they are, shows the merged
 * tree of all. It is computed from two trees and not from the layers that led to them, so that both
 * semantics (semantics.h) read it in the same way. It has
 *
 *  - files that the kept layers do not have at that path, under all their names: a link to a kept
 *    file makes a copy of it, as no engine links across layers;
 *  - directories that have a new entry or replace something else, and the directories above all
 *    that the layer holds, with their final attributes;
 *  - a whiteout for each path that is gone and whose directory still exists, but none beside an
 *    entry of that name;
 *  - an opaque marker instead of two or more whiteouts, in a directory below which nothing of the
 *    kept layers is visible; never in the root, where engines ignore it.
 */
#ifndef FLATTEN_DELTA_H
#define FLATTEN_DELTA_H

#include "flatten/merge/index/merge_index.h"

enum delta_flag {
    DELTA_WRITE = 1,    /* the directory, or the file under this name */
    DELTA_WHITEOUT = 2, /* a whiteout in its place */
    DELTA_OPAQUE = 4,   /* an opaque marker in the directory */
};

struct delta {
    uint8_t *nodes; /* by node of the index: flags of enum delta_flag */
    bool *inodes;   /* by inode: true for a file to be written, with all its names */
    uint32_t count; /* nodes */
};

/*
 * Computes the delta between the kept layers and the merged tree; without kept layers it is the
 * whole tree. The caller clears *out with delta_clear, also after a failure.
 */
int delta_make(const struct merge_index *x, struct delta *out, struct err *err) must_check;
void delta_clear(struct delta *d);

#define _cleanup_delta_ _cleanup_(delta_clear)

#endif
