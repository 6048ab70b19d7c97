/* The state of a merge (merge.h), and walks through it. */
#ifndef FLATTEN_MERGE_WALK_H
#define FLATTEN_MERGE_WALK_H

#include "base/arena.h"
#include "flatten/merge/merge.h"

/* The kind of entry that the current layer has at a path. */
enum merge_seen {
    SEEN_NOTHING, /* at most a whiteout */
    SEEN_IMPLIED, /* a directory without an entry, which an entry below needs */
    SEEN_DIR,
    SEEN_SYMLINK,
    SEEN_HARDLINK,
    SEEN_OTHER,
};

/* The decision of the newest layer that has a path. */
enum merge_decided { DECIDED_NOTHING, DECIDED_GONE, DECIDED_IMPLIED, DECIDED_DIR, DECIDED_OTHER };

/* A symbolic link of the current layer. */
struct symlink {
    const char *target;
    size_t len;
    uint32_t attributes;
};

/* A hard link of the current layer: the entry that holds the file it is bound to. */
struct bound {
    uint32_t origin;     /* the entry's node */
    uint32_t ordinal;    /* the entry's number */
    uint32_t attributes; /* the entry's; a link with others is a conflict */
};

struct merge {
    struct tree *tree;
    uint16_t layer;     /* the current one, from 1 */
    struct arena arena; /* of the current layer */
    struct symlink *symlinks;
    size_t symlink_count, symlink_cap;
    struct bound *bounds;
    size_t bound_count, bound_cap;
    uint32_t *implied;
    size_t implied_count, implied_cap;
    bool lists;        /* keep `touched` */
    uint32_t *touched; /* what the current layer has, directories first */
    size_t touch_count, touch_cap;
    struct buf rest; /* of the path being walked */
};

/* The position of a walk. */
struct place {
    uint32_t node;
    /* Counts the directories from the root to here in which newer layers hide all that is older. */
    uint32_t hiders;
};

/* True if newer layers hide what is older at the place. */
static inline bool place_hidden(const struct place *at)
{
    return at->hiders > 0;
}

enum walk_mode {
    WALK_ENTRY,    /* to an entry, which implies the directories on the way */
    WALK_WHITEOUT, /* the same, but stops at a whiteout of the same layer: nothing is left to hide
                    */
    WALK_LOOK,     /* to a hard link's target, which implies nothing */
};

static inline struct tree_node *node_of(const struct merge *m, uint32_t node)
{
    return tree_node(m->tree, node);
}

/* Notes that the current layer has that at the node. */
int merge_see(struct merge *m, uint32_t node, enum merge_seen kind, struct err *err) must_check;

/*
 * Walks to the parent of the path's last name, through the layer's own symbolic links. Sets *at to
 * the parent and *name to the name (valid until the next walk); to NULL where WALK_WHITEOUT found
 * nothing to hide.
 */
int merge_walk(struct merge *m, const char *path, size_t len, enum walk_mode mode, struct place *at,
               const char **name, struct err *err) must_check;

#endif
