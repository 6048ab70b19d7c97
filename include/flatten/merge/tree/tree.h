/*
 * The paths of an image as a tree of names, held compactly: a node is a number, names are in one
 * pool, children are found through one hash table. Nodes are never removed and numbered parents
 * first. The facts about a path in `struct tree_node` are for the merge (merge.h).
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
    uint32_t name; /* the offset of its name in the pool */
    uint32_t name_len;
    /* For merge.c; layers are counted from 1, 0 means none. */
    uint32_t ordinal;     /* of its entry in the layer `seen` */
    uint32_t extra;       /* by seen_kind: index of its symlink or bound, or its attributes' hash */
    uint16_t seen;        /* the layer that had an entry for it last, or implied it */
    uint16_t decided;     /* the newest layer that has the path */
    uint16_t block;       /* the newest layer that hides everything older below it */
    uint8_t seen_kind;    /* enum merge_seen */
    uint8_t decided_kind; /* enum merge_decided */
};

struct tree;

/* Returns a tree with the root alone, which the caller frees with tree_free; NULL without memory.
 */
struct tree *tree_new(struct err *err) must_check;

/* Frees the tree and the names in it. */
void tree_free(struct tree *t);

DEFINE_CLEANUP(tree, struct tree, tree_free)
#define _cleanup_tree_ _cleanup_(cleanup_tree)

/* Returns the node of that number. Valid until tree_child adds a node. */
struct tree_node *tree_node(struct tree *t, uint32_t node);

/* Returns the child of `parent` with that name, or TREE_NONE. */
uint32_t tree_find(const struct tree *t, uint32_t parent, const char *name, size_t len) must_check;

/* The same, but adds a child that is not there. TREE_NONE: no memory, or ERR_LIMIT. */
uint32_t tree_child(struct tree *t, uint32_t parent, const char *name, size_t len,
                    struct err *err) must_check;

/* Appends the node's path, relative to the root; the root is "". */
void tree_path(const struct tree *t, uint32_t node, struct buf *out);

/* Returns the same path in `out`, in place of what was there; NULL without memory. */
const char *tree_path_in(const struct tree *t, uint32_t node, struct buf *out) must_check;

/* Returns the node's name in its directory, which is not terminated; sets its length. */
const char *tree_name(const struct tree *t, uint32_t node, size_t *len);

/* Returns the node's directory; TREE_NONE for the root. */
uint32_t tree_parent(const struct tree *t, uint32_t node);

/* Returns the number of nodes, the root included. */
uint32_t tree_count(const struct tree *t);

#endif
