/*
 * Makes a tree of hard links to the files of merged layers: everything but directories shares its
 * inode with a layer, so neither bytes on disk nor pages in memory are there twice. Directories are
 * new, with owner, mode, times and attributes of those that a container sees (but for the
 * overlay's).
 *
 * Nothing may ever be written into the tree: the inodes belong to the layers. It serves as a lower
 * layer only.
 */
#ifndef SHIM_RESTACK_TREE_H
#define SHIM_RESTACK_TREE_H

#include "shim/restack/build/restack_merge.h"

/*
 * Fills the empty directory `root`, which must be reached through the same mount as the layers
 * (else link(2) fails with EXDEV: ERR_SYSTEM). *counts gets the numbers of what was merged.
 */
int restack_tree_make(const struct merge_layers *layers, int root, struct merge_counts *counts,
                      struct err *err) must_check;

#endif
