/*
 * Hashes of names and paths, and the order of paths by them: none depends on the process, the
 * machine, or the order in which paths were added to the tree.
 */
#ifndef FLATTEN_LAYOUT_ORDER_H
#define FLATTEN_LAYOUT_ORDER_H

#include "flatten/merge/tree/tree.h"

struct layout_order {
    uint64_t *hash; /* by node: of its path */
    uint32_t *rank; /* by node: its place, where each directory precedes what is in it */
    uint32_t *end;  /* by node: the rank behind all that is below it */
};

/* Returns a hash of the bytes and of `more`. */
uint64_t layout_hash(const void *data, size_t len, uint64_t more);

/* Returns a hash of both numbers. */
uint64_t layout_hash_pair(uint64_t a, uint64_t b);

/* Hashes and orders all paths. The caller clears *out, also after a failure. */
int layout_order_make(const struct tree *tree, struct layout_order *out,
                      struct err *err) must_check;

/* Frees what the order owns. */
void layout_order_clear(struct layout_order *o);

#define _cleanup_layout_order_ _cleanup_(layout_order_clear)

#endif
