/*
 * The paths of an image as a tree of names, held compactly: a node is a number, its name lies in
 * one pool, children are found through one hash table. Nodes are never removed. What is known about
 * a path (`struct tree_node`) belongs to whoever merges.
 */
#ifndef FLATTEN_TREE_H
#define FLATTEN_TREE_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREE_ROOT = 0 };
#define TREE_NONE UINT32_MAX

struct tree_node {
    uint32_t parent;
    uint32_t name; /* where its name starts in the pool */
    uint32_t name_len;
    /* For the merger (merge.h); layers are counted from 1, 0 means none. */
    uint32_t ordinal;     /* of its entry in the layer `seen` */
    uint32_t extra;       /* index of more that is known of it in that layer */
    uint16_t seen;        /* the layer that spoke of it last */
    uint16_t decided;     /* the newest layer that says what is here */
    uint16_t block;       /* the newest layer that hides everything older below */
    uint8_t seen_kind;    /* enum merge_seen */
    uint8_t decided_kind; /* enum merge_decided */
};

struct tree;

struct tree *tree_new(struct err *err) must_check;
void tree_free(struct tree *t);

DEFINE_CLEANUP(tree, struct tree, tree_free)
#define _cleanup_tree_ _cleanup_(cleanup_tree)

/* Valid until the next tree_child that creates. */
struct tree_node *tree_node(struct tree *t, uint32_t node);

/*
 * The child of `parent` with that name, or TREE_NONE. With `create`, it is made; then TREE_NONE
 * means an error (no memory, or more than 2^32 nodes).
 */
uint32_t tree_find(const struct tree *t, uint32_t parent, const char *name, size_t len) must_check;
uint32_t tree_child(struct tree *t, uint32_t parent, const char *name, size_t len,
                    struct err *err) must_check;

/* Appends the node's path, relative to the root; the root is "". */
void tree_path(const struct tree *t, uint32_t node, struct buf *out);

/* Returns the same path in `out`, in place of what was there; NULL without memory. */
const char *tree_path_in(const struct tree *t, uint32_t node, struct buf *out) must_check;

/* TREE_NONE for the root. */
uint32_t tree_parent(const struct tree *t, uint32_t node);

uint32_t tree_count(const struct tree *t);

#endif
