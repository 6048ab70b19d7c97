/*
 * What each layer of an image holds by itself, path by path: the one table that every analysis is
 * computed from. A record stands for one path in one layer; the records of a path are chained from
 * the newest layer to the oldest. Layers are counted from 1, oldest first.
 *
 * How the layers then lie over each other is the kernel's rule (Documentation/filesystems/
 * overlayfs.rst): below a path, what is older than its *floor* does not show.
 */
#ifndef FLATTEN_LAYER_STACK_H
#define FLATTEN_LAYER_STACK_H

#include "base/arena.h"
#include "flatten/merge/model.h"
#include "flatten/merge/tree.h"

enum { LAYER_STACK_MOST = 1000 };

struct stack_record {
    uint64_t size; /* bytes of the file that bears its first name here, else 0 */
    uint32_t node;
    uint32_t older; /* record of the same path in an older layer; STACK_NONE */
    uint32_t inode; /* an index into files, where it is one */
    uint16_t layer;
    uint8_t kind; /* enum model_kind */
    bool opaque : 1;
    bool leaf : 1; /* nothing lies below it in its own layer */
};

#define STACK_NONE UINT32_MAX

/* Why bytes that a layer brought do not show. */
enum dead_cause {
    DEAD_OVERWRITTEN, /* another file took its path */
    DEAD_METADATA,    /* the same content again: only owner, mode or times changed */
    DEAD_DELETED,     /* a whiteout of the path, or of a directory above it */
    DEAD_OPAQUE,      /* an opaque marker in a directory above it */
    DEAD_TYPE,        /* something that is no file took its path, or that of a directory above it */
    DEAD_CAUSES,
};

/* Names for people ("metadata only") and for JSON ("metadata"). */
extern const char *const dead_cause_text[DEAD_CAUSES], *const dead_cause_key[DEAD_CAUSES];

/* A tar entry that is a file. */
struct stack_file {
    uint64_t size;    /* bytes */
    uint64_t quick;   /* a hash of its content (contents_quick); 0: not known */
    uint32_t node;    /* its first name */
    uint32_t ordinal; /* of the entry in its layer */
    uint32_t rival;   /* the file that took its path, where both have one size; or 0 */
    uint16_t layer;   /* 0: this number is no file */
    uint16_t killer;  /* the layer that hid the last of its names; 0: it shows */
    uint8_t cause;    /* enum dead_cause, where there is a killer */
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

void layer_stack_clear(struct layer_stack *s);

#define _cleanup_layer_stack_ _cleanup_(layer_stack_clear)

/* Layers come oldest first; within a layer, parents before what is in them. */
int layer_stack_add(struct layer_stack *s, unsigned layer, uint32_t node, enum model_kind kind,
                    const struct model_slot *slot, struct err *err) must_check;

int layer_stack_add_file(struct layer_stack *s, uint32_t inode, const struct stack_file *file,
                         struct err *err) must_check;

/* The newest record of a path, or STACK_NONE. */
uint32_t layer_stack_newest(const struct layer_stack *s, uint32_t node);

/* The file that a record is a name of; NULL for everything else. */
struct stack_file *stack_record_file(const struct layer_stack *s, const struct stack_record *r);

/* The path in clean relative form, NUL-terminated in `out`; replaces what was there. */
const char *layer_stack_path(const struct layer_stack *s, uint32_t node, struct buf *out);

/*
 * The floor of every node: the oldest layer whose entries below it can show. By node; the caller
 * frees it. A path shows if its newest record's layer is not below its parent's floor and is
 * neither a whiteout nor nothing.
 */
uint16_t *layer_stack_floors(const struct layer_stack *s, struct err *err) must_check;

/* The record that shows at a node, or NULL. `floors` as above. */
const struct stack_record *layer_stack_visible(const struct layer_stack *s, const uint16_t *floors,
                                               uint32_t node);

#endif
