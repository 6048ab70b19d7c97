/* Writes the files of a tree as the reader sends them (wire_tree.h). */
#ifndef FLATTEN_TREE_WRITER_H
#define FLATTEN_TREE_WRITER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes the tree from the pipe into the directory `root`, which is empty, and waits until all of
 * it is on the disk. Changes the working directory. `owners`, *left_out: as in tree_unpack.h.
 */
int tree_write(int root, int pipe, bool owners, uint64_t *left_out, struct err *err);

#endif
