/*
 * A file tree in the making: what is at each path of a `tree` (tree.h), changed entry by entry.
 * Removing a directory is one mark, not a walk: a node lives if it was set after the last time that
 * one of its ancestors was emptied.
 */
#ifndef FLATTEN_MODEL_H
#define FLATTEN_MODEL_H

#include "flatten/merge/tree.h"

enum model_kind { MODEL_NOTHING, MODEL_DIR, MODEL_SYMLINK, MODEL_OTHER, MODEL_WHITEOUT };

/* True for everything that has content and names of its own: neither directory nor whiteout. */
static inline bool model_is_file(enum model_kind kind)
{
    return kind == MODEL_SYMLINK || kind == MODEL_OTHER;
}

struct model_slot {
    uint32_t stamp;   /* when it was set */
    uint32_t emptied; /* what is below and was set before this is gone */
    uint32_t inode;   /* the owner's number for what is here */
    uint8_t kind;     /* enum model_kind */
    bool opaque;      /* hides what older layers have below */
};

struct model {
    struct model_slot *slots; /* by node */
    uint32_t count;
    uint32_t clock;
};

void model_free(struct model *m);

/* A copy of what it knows now. */
int model_copy(const struct model *from, struct model *to, struct err *err) must_check;

/* The slot of a node, grown on demand; NULL without memory. Valid until the next model_slot. */
struct model_slot *model_slot(struct model *m, uint32_t node, struct err *err) must_check;

/* What lives at the node; MODEL_NOTHING where nothing does. The root is a directory. */
enum model_kind model_kind(const struct model *m, const struct tree *t, uint32_t node);

/*
 * The same on the way down, without looking up again: what was set before its directory's floor is
 * gone. `above` is the floor of the directory's own directory, 0 for the root.
 */
enum model_kind model_kind_below(const struct model *m, uint32_t node, uint32_t floor);
uint32_t model_floor(const struct model *m, uint32_t node, uint32_t above);

/* Puts something at the node; what was below stays. */
int model_set(struct model *m, uint32_t node, enum model_kind kind, uint32_t inode,
              struct err *err) must_check;

/* A mark in time: what is set from now on is younger. */
uint32_t model_mark(struct model *m);

/* Empties the node of what was set before the mark. The node itself stays. */
int model_empty(struct model *m, uint32_t node, uint32_t mark, struct err *err) must_check;

#endif
