/*
 * The layers of an image, one over the other: a table with a record for each path in each layer,
 * from which every analysis is computed. The records of a path are chained from the newest layer to
 * the oldest. Layers are numbered from 1, oldest first.
 *
 * Visibility follows the kernel's rule (Documentation/filesystems/overlayfs.rst): each path has a
 * *floor*, and entries below it from layers older than the floor do not show.
 */
#ifndef FLATTEN_LAYER_STACK_H
#define FLATTEN_LAYER_STACK_H

#include "base/arena.h"
#include "flatten/merge/tree/model.h"
#include "flatten/merge/tree/tree.h"

enum { LAYER_STACK_MOST = 1000 };

struct stack_record {
    uint64_t size; /* bytes of the file, if this is its first name; else 0 */
    uint32_t node;
    uint32_t older; /* the path's record in the next older layer; or STACK_NONE */
    uint32_t inode; /* of a file: its index in layer_stack.files */
    uint16_t layer;
    uint8_t kind; /* enum model_kind */
    bool opaque : 1;
    bool leaf : 1; /* nothing lies below it in its own layer */
};

#define STACK_NONE UINT32_MAX

/* Why bytes of a layer do not show. */
enum dead_cause {
    DEAD_OVERWRITTEN, /* another file took its path */
    DEAD_METADATA,    /* the same content again: only owner, mode or times changed */
    DEAD_DELETED,     /* a whiteout of the path, or of a directory above it */
    DEAD_OPAQUE,      /* an opaque marker in a directory above it */
    DEAD_TYPE,        /* an entry of another type took its path, or a directory's above it */
    DEAD_CAUSES,
};

/* Names for people ("metadata only") and for JSON ("metadata"). */
extern const char *const dead_cause_text[DEAD_CAUSES], *const dead_cause_key[DEAD_CAUSES];

/* A tar entry that is a file. */
struct stack_file {
    uint64_t size;    /* bytes */
    uint64_t quick;   /* a hash of its content (contents_quick); 0: unknown */
    uint32_t node;    /* its first name */
    uint32_t ordinal; /* of the entry in its layer */
    uint32_t rival;   /* the file that took its path, if both have the same size; or 0 */
    uint16_t layer;   /* 0: no file has this number */
    uint16_t killer;  /* the layer that hid the last of its names; 0: it shows */
    uint8_t cause;    /* enum dead_cause, if there is a killer */
    bool shows;       /* under some name, in the merged tree */
};

struct layer_stack {
    struct tree *tree; /* borrowed */
    struct stack_record *records;
    size_t count, cap;
    uint32_t *newest; /* by node: its newest record, or STACK_NONE */
    uint32_t nodes, node_cap;
    struct stack_file *files; /* by inode */
    size_t file_count, file_cap;
    unsigned layers;
};

/* Frees what it owns, which is not the tree, and zeroes it. */
void layer_stack_clear(struct layer_stack *s);

#define _cleanup_layer_stack_ _cleanup_(layer_stack_clear)

/* Adds a path of a layer. Layers come oldest first; within a layer, parents before their children.
 */
int layer_stack_add(struct layer_stack *s, unsigned layer, uint32_t node, enum model_kind kind,
                    const struct model_slot *slot, struct err *err) must_check;

/* Adds a file under that inode. */
int layer_stack_add_file(struct layer_stack *s, uint32_t inode, const struct stack_file *file,
                         struct err *err) must_check;

/* Returns the newest record of a path, or STACK_NONE. */
uint32_t layer_stack_newest(const struct layer_stack *s, uint32_t node);

/* Returns the file that the record is a name of; NULL if it is no file. */
struct stack_file *stack_record_file(const struct layer_stack *s, const struct stack_record *r);

/* Writes the path, relative and clean, over the content of `out`. Returns it, NUL-terminated. */
const char *layer_stack_path(const struct layer_stack *s, uint32_t node, struct buf *out);

/*
 * Returns the floor of every node, by node: the oldest layer whose entries below it can show. The
 * caller frees it; NULL without memory. A path shows if its newest record is no whiteout, and of a
 * layer not older than its parent's floor.
 */
uint16_t *layer_stack_floors(const struct layer_stack *s, struct err *err) must_check;

/* Returns the record that shows at a node, or NULL. `floors`: from layer_stack_floors. */
const struct stack_record *layer_stack_visible(const struct layer_stack *s, const uint16_t *floors,
                                               uint32_t node);

#endif
