/* The order in which paths are written. */
#ifndef FLATTEN_ORDER_H
#define FLATTEN_ORDER_H

#include "flatten/merge/tree/tree.h"

/*
 * Returns all nodes of the tree, each directory before what is in it and names in the order of
 * their bytes: an order that does not depend on how the tree was made. The caller frees it.
 */
uint32_t *order_paths(struct tree *tree, struct err *err) must_check;

#endif
