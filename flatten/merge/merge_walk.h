/* The state of a merge (merge.h), and walks through it. */
#ifndef FLATTEN_MERGE_WALK_H
#define FLATTEN_MERGE_WALK_H

#include "base/arena.h"
#include "flatten/merge/merge.h"

/* What the layer at hand says of a path. */
enum merge_seen {
    SEEN_NOTHING, /* at most a whiteout */
    SEEN_IMPLIED, /* a directory that an entry below needs */
    SEEN_DIR,
    SEEN_SYMLINK,
    SEEN_HARDLINK,
    SEEN_OTHER,
};

/* What the newest layer that speaks of a path says. */
enum merge_decided { DECIDED_NOTHING, DECIDED_GONE, DECIDED_IMPLIED, DECIDED_DIR, DECIDED_OTHER };

/* A symbolic link of the layer at hand. */
struct symlink {
    const char *target;
    size_t len;
    uint32_t attributes;
};

/* A hard link of the layer at hand, and the entry that brought what it is bound to. */
struct bound {
    uint32_t origin;     /* its node */
    uint32_t ordinal;    /* its number */
    uint32_t attributes; /* and what hard links to it must have as well */
};

struct merge {
    struct tree *tree;
    uint16_t layer;     /* at hand, from 1 */
    struct arena arena; /* of the layer at hand */
    struct symlink *symlinks;
    size_t symlink_count, symlink_cap;
    struct bound *bounds;
    size_t bound_count, bound_cap;
    uint32_t *implied;
    size_t implied_count, implied_cap;
    struct buf rest; /* of the path being walked */
};

/* Where a walk stands. */
struct place {
    uint32_t node;
    uint32_t
        hiders; /* directories from the root to here in which newer layers hide all that is older */
};

static inline bool place_hidden(const struct place *at)
{
    return at->hiders > 0;
}

enum walk_mode {
    WALK_ENTRY,    /* directories on the way are there because of what is walked to */
    WALK_WHITEOUT, /* the same, but below a whiteout of the same layer there is nothing to hide */
    WALK_LOOK,     /* a link's target: only follows */
};

static inline struct tree_node *node_of(const struct merge *m, uint32_t node)
{
    return tree_node(m->tree, node);
}

/*
 * Walks to the parent of the path's last name, through the layer's own symbolic links. The name is
 * left in *name (valid until the next walk); NULL when a whiteout has nothing to hide.
 */
int merge_walk(struct merge *m, const char *path, size_t len, enum walk_mode mode, struct place *at,
               const char **name, struct err *err) must_check;

#endif
