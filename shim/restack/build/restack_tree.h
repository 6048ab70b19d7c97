/*
 * A tree of hard links to the files of merged layers: what is not a directory has the layer's
 * inode, so neither its bytes nor the page cache's are there twice. Directories are made anew, with
 * owner, mode, times and attributes of those that a container sees (but for the overlay's own).
 *
 * Nobody may ever write into it: the inodes are the layers'. It is only good as a lower layer.
 */
#ifndef SHIM_RESTACK_TREE_H
#define SHIM_RESTACK_TREE_H

#include "shim/restack/build/restack_merge.h"

/*
 * Fills the empty directory `root`, which must be reached through the same mount as the layers
 * (link(2) says EXDEV otherwise: ERR_SYSTEM).
 */
int restack_tree_make(const struct merge_layers *layers, int root, struct merge_counts *counts,
                      struct err *err) must_check;

#endif
