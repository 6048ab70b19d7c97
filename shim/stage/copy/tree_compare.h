/* Compares the content of a copy with its source, byte by byte. */
#ifndef SHIM_TREE_COMPARE_H
#define SHIM_TREE_COMPARE_H

#include "shim/stage/copy/tree_walk.h"

/*
 * Reads all files of the tree beneath `from` (tree_walk) and of its copy `to` once more.
 * ERR_UNSUPPORTED: a file differs.
 */
int tree_compare(int from, int to, const struct user_ids *user, struct err *err)
    __attribute__((warn_unused_result));

#endif
