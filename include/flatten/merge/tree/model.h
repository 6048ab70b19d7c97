/*
 * A file tree that is changed entry by entry: the kind and inode at each path of a `tree` (tree.h).
 * Removing a directory is one mark, not a walk: a node exists if it was set after all its ancestors
 * were last emptied.
 */
#ifndef FLATTEN_MODEL_H
#define FLATTEN_MODEL_H

#include "flatten/merge/tree/tree.h"

enum model_kind { MODEL_NOTHING, MODEL_DIR, MODEL_SYMLINK, MODEL_OTHER, MODEL_WHITEOUT };

/* True for anything but directories, whiteouts and nothing. */
static inline bool model_is_file(enum model_kind kind)
{
    return kind == MODEL_SYMLINK || kind == MODEL_OTHER;
}

struct model_slot {
    uint32_t stamp;   /* the clock when it was set */
    uint32_t emptied; /* nodes below that were set before this clock are gone */
    uint32_t inode;   /* the caller's number for the file */
    uint8_t kind;     /* enum model_kind */
    bool opaque;      /* hides what older layers have below */
};

struct model {
    struct model_slot *slots; /* by node */
    uint32_t count;
    uint32_t clock;
};

/* Frees the slots; the struct itself is the caller's. */
void model_free(struct model *m);

/* Copies the model, as it is now, to *to, which the caller frees with model_free. */
int model_copy(const struct model *from, struct model *to, struct err *err) must_check;

/* Returns the slot of a node, made on demand; NULL without memory. Valid until the next model_slot.
 */
struct model_slot *model_slot(struct model *m, uint32_t node, struct err *err) must_check;

/* Returns the kind at the node, MODEL_NOTHING where nothing is. The root is always a directory. */
enum model_kind model_kind(const struct model *m, const struct tree *t, uint32_t node);

/*
 * The same for a walk from the root down, which needs not visit the ancestors again: a node that
 * was set before the floor of its directory is gone. model_floor returns the floor of a directory,
 * from the floor of the directory above it (0 for the root).
 */
enum model_kind model_kind_below(const struct model *m, uint32_t node, uint32_t floor);
uint32_t model_floor(const struct model *m, uint32_t node, uint32_t above);

/* Sets the kind and inode of the node; nodes below stay. */
int model_set(struct model *m, uint32_t node, enum model_kind kind, uint32_t inode,
              struct err *err) must_check;

/* Advances the clock and returns it: nodes that are set from now on are younger. */
uint32_t model_mark(struct model *m);

/* Removes all nodes below this one that were set before the mark. The node itself stays. */
int model_empty(struct model *m, uint32_t node, uint32_t mark, struct err *err) must_check;

#endif
