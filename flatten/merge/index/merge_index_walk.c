#include "flatten/merge/index/merge_index_walk.h"

#include "flatten/layer/emit.h"
#include "flatten/merge/tree/array.h"
#include "flatten/merge/tree/symlink_budget.h"

#include <string.h>

static uint32_t add_implied(struct index_builder *b, struct err *err)
{
    uint32_t inode = merge_index_add_inode(b->index, b->layer->number, b->entry->info.ordinal, err);

    if (inode == TREE_NONE)
        return TREE_NONE;
    struct merge_index_inode *i = &b->index->inodes[inode];
    i->implied = true;
    i->described = b->layer->number;
    if (b->index->bare)
        return inode;
    _cleanup_entry_ struct archive_entry *header = emit_implied_header(b->entry->header, err);
    i->header = header ? attributes_of(header, err) : NULL;
    return i->header ? inode : TREE_NONE;
}

/*
 * Makes sure that the node, which has `kind` now, is a directory for an entry below it. It replaces
 * an older file, unless the walk followed a symbolic link to it.
 */
static int ensure_dir(struct index_builder *b, uint32_t node, enum model_kind kind, bool linked,
                      struct err *err)
{
    if (kind == MODEL_DIR) {
        b->own->slots[node].stamp = b->own->clock; /* the layer has the directory, too */
        return 0;
    }
    if (kind == MODEL_OTHER && (linked || b->own->slots[node].stamp >= b->layer_mark))
        return err_set(err, ERR_FORMAT, "its parent is not a directory");
    uint32_t inode = add_implied(b, err);
    if (inode == TREE_NONE || model_empty(b->own, node, model_mark(b->own), err) < 0 ||
        model_set(b->own, node, MODEL_DIR, inode, err) < 0)
        return -1;
    if (kind == MODEL_WHITEOUT)
        b->own->slots[node].opaque = true;
    return 0;
}

/* The position of a walk in b->rest and in the tree. */
struct walk {
    uint32_t at;
    size_t depth; /* of `at`: its floor is b->floors[depth] */
    size_t used;
    struct symlink_budget links;
    bool make;
};

static int enter_dir(struct index_builder *b, struct walk *w, uint32_t dir, struct err *err)
{
    size_t depth = dir == TREE_ROOT ? 0 : w->depth + 1;

    if (array_reserve(&b->floors, &b->floor_cap, depth + 1, sizeof(*b->floors), err) < 0)
        return -1;
    b->floors[depth] = model_floor(b->own, dir, depth ? b->floors[depth - 1] : 0);
    w->depth = depth;
    w->at = dir;
    return 0;
}

/* Puts the link's target before the rest of the path. */
static int follow_symlink(struct index_builder *b, struct walk *w, uint32_t link, struct err *err)
{
    const char *target = b->symlinks[b->own->slots[link].inode];
    struct buf joined = BUF_INIT;

    if (symlink_budget_spend(&w->links, strlen(target), err) < 0)
        return -1;
    buf_printf(&joined, "%s/%s", target, b->rest.data + w->used);
    buf_free(&b->rest);
    b->rest = joined;
    w->used = 0;
    if (buf_check(&b->rest, err) < 0)
        return -1;
    return b->rest.data[0] == '/' ? enter_dir(b, w, TREE_ROOT, err) : 0;
}

/* Walks one name that is not the last. */
static int walk_name(struct index_builder *b, struct walk *w, const char *name, size_t len,
                     struct err *err)
{
    struct tree *t = b->index->tree;

    if (len == 1 && name[0] == '.')
        return 0;
    if (len == 2 && name[0] == '.' && name[1] == '.') {
        if (w->at != TREE_ROOT) {
            w->at = tree_parent(t, w->at);
            w->depth--;
        }
        return 0;
    }
    uint32_t child = tree_child(t, w->at, name, len, err);
    if (child == TREE_NONE)
        return -1;
    enum model_kind kind = model_kind_below(b->own, child, b->floors[w->depth]);
    if (kind == MODEL_SYMLINK)
        return follow_symlink(b, w, child, err);
    if (b->whiteout && kind == MODEL_WHITEOUT) {
        b->ignored = true;
        return -1;
    }
    if (w->make && ensure_dir(b, child, kind, w->links.count > 0, err) < 0)
        return -1;
    return enter_dir(b, w, child, err);
}

/* Returns the parent of the path's last name, and sets *name to that name in b->rest. */
static uint32_t walk_to_parent(struct index_builder *b, const char *path, size_t len, bool make,
                               const char **name, struct err *err)
{
    struct walk w = {.make = make};

    buf_truncate(&b->rest, 0);
    buf_append(&b->rest, path, len);
    if (buf_check(&b->rest, err) < 0 || enter_dir(b, &w, TREE_ROOT, err) < 0)
        return TREE_NONE;
    for (;;) {
        w.used += strspn(b->rest.data + w.used, "/");
        const char *start = b->rest.data + w.used;
        size_t size = strcspn(start, "/");
        if (start[size] == '\0') {
            *name = start;
            return w.at;
        }
        w.used += size;
        if (walk_name(b, &w, start, size, err) < 0)
            return TREE_NONE;
    }
}

uint32_t merge_index_walk(struct index_builder *b, const char *path, size_t len, bool make,
                          struct err *err)
{
    const char *name;
    uint32_t parent = walk_to_parent(b, path, len, make, &name, err);

    if (parent == TREE_NONE || !*name || strcmp(name, ".") == 0)
        return parent;
    return tree_child(b->index->tree, parent, name, strlen(name), err);
}
