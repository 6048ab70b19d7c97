#include "flatten/index_internal.h"

#include "flatten/emit.h"

#include <limits.h>
#include <string.h>

enum { MOST_SYMLINKS = 40 };

static uint32_t add_implied(struct builder *b, struct err *err)
{
    uint32_t inode = index_add_inode(b->index, b->layer->number, b->entry->in.ordinal, err);

    if (inode == TREE_NONE)
        return TREE_NONE;
    struct index_inode *i = &b->index->inodes[inode];
    i->implied = true;
    i->described = b->layer->number;
    if (b->index->bare)
        return inode;
    _cleanup_entry_ struct archive_entry *header = emit_implied_header(b->entry->header, err);
    i->header = header ? attributes_of(header, err) : NULL;
    return i->header ? inode : TREE_NONE;
}

/*
 * Sees to it that there is a directory at the node for what comes below. An older file gives way,
 * unless a symbolic link led to it.
 */
static int ensure_dir(struct builder *b, uint32_t node, bool linked, struct err *err)
{
    enum model_kind kind = index_kind(b, node);

    if (kind == MODEL_DIR) {
        if (node != TREE_ROOT)
            b->own->slots[node].stamp = b->own->clock; /* the layer has it, too */
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

static int follow(struct builder *b, uint32_t node, size_t used, struct err *err)
{
    const char *target = b->symlinks[b->own->slots[node].inode];
    struct buf joined = BUF_INIT;

    buf_printf(&joined, "%s/%s", target, b->rest.data + used);
    buf_free(&b->rest);
    b->rest = joined;
    if (joined.len > PATH_MAX * 16)
        return err_set(err, ERR_FORMAT, "symbolic links make its path too long");
    return buf_check(&b->rest, err);
}

/* The parent of the path's last name, which is left at *name in b->rest. */
static uint32_t walk(struct builder *b, const char *path, size_t len, bool make, const char **name,
                     struct err *err)
{
    struct tree *t = b->index->tree;
    uint32_t at = TREE_ROOT;
    size_t used = 0, links = 0;

    buf_truncate(&b->rest, 0);
    buf_append(&b->rest, path, len);
    if (buf_check(&b->rest, err) < 0)
        return TREE_NONE;
    for (;;) {
        used += strspn(b->rest.data + used, "/");
        const char *start = b->rest.data + used;
        size_t size = strcspn(start, "/");
        if (start[size] == '\0') {
            *name = start;
            return at;
        }
        used += size;
        if (size == 1 && start[0] == '.')
            continue;
        if (size == 2 && start[0] == '.' && start[1] == '.') {
            at = at == TREE_ROOT ? at : tree_parent(t, at);
            continue;
        }
        uint32_t child = tree_child(t, at, start, size, err);
        if (child == TREE_NONE)
            return TREE_NONE;
        if (index_kind(b, child) == MODEL_SYMLINK) {
            if (++links > MOST_SYMLINKS) {
                err_set(err, ERR_FORMAT, "too many symbolic links on its path");
                return TREE_NONE;
            }
            if (follow(b, child, used, err) < 0)
                return TREE_NONE;
            used = 0;
            at = b->rest.data[0] == '/' ? TREE_ROOT : at;
            continue;
        }
        if (b->whiteout && index_kind(b, child) == MODEL_WHITEOUT) {
            b->ignored = true;
            return TREE_NONE;
        }
        if (make && ensure_dir(b, child, links > 0, err) < 0)
            return TREE_NONE;
        at = child;
    }
}

uint32_t index_walk(struct builder *b, const char *path, size_t len, bool make, struct err *err)
{
    const char *name;
    uint32_t parent = walk(b, path, len, make, &name, err);

    if (parent == TREE_NONE || !*name || strcmp(name, ".") == 0)
        return parent;
    return tree_child(b->index->tree, parent, name, strlen(name), err);
}
