#include "flatten/merge/tree/tree.h"

#include "base/hash.h"

#include <string.h>

struct tree {
    struct tree_node *nodes;
    uint32_t count, cap;
    uint32_t *slots; /* hash table, open addressing: node numbers; 0 (the root, which is no child)
                        is empty */
    uint32_t mask;
    struct buf names;
};

enum { FIRST_NODES = 1024 };

struct tree *tree_new(struct err *err)
{
    _cleanup_tree_ struct tree *t = calloc(1, sizeof(*t));

    if (!t) {
        err_nomem(err);
        return NULL;
    }
    t->cap = FIRST_NODES;
    t->mask = 2 * FIRST_NODES - 1;
    t->nodes = calloc(t->cap, sizeof(*t->nodes));
    t->slots = calloc((size_t)t->mask + 1, sizeof(*t->slots));
    if (!t->nodes || !t->slots) {
        err_nomem(err);
        return NULL;
    }
    t->nodes[TREE_ROOT].parent = TREE_NONE;
    t->count = 1;
    return steal_ptr(&t);
}

void tree_free(struct tree *t)
{
    free(t->nodes);
    free(t->slots);
    buf_free(&t->names);
    free(t);
}

struct tree_node *tree_node(struct tree *t, uint32_t node)
{
    return &t->nodes[node];
}

uint32_t tree_parent(const struct tree *t, uint32_t node)
{
    return t->nodes[node].parent;
}

const char *tree_name(const struct tree *t, uint32_t node, size_t *len)
{
    *len = t->nodes[node].name_len;
    return t->names.data + t->nodes[node].name;
}

uint32_t tree_count(const struct tree *t)
{
    return t->count;
}

/* Returns the slot of the child in the table, or the empty slot for it. */
static uint32_t *slot_of(const struct tree *t, uint32_t parent, const char *name, size_t len)
{
    uint32_t at = (uint32_t)hash_bytes(name, len, parent) & t->mask;

    for (; t->slots[at]; at = (at + 1) & t->mask) {
        const struct tree_node *n = &t->nodes[t->slots[at]];
        if (n->parent == parent && n->name_len == len &&
            memcmp(t->names.data + n->name, name, len) == 0)
            break;
    }
    return &t->slots[at];
}

uint32_t tree_find(const struct tree *t, uint32_t parent, const char *name, size_t len)
{
    uint32_t node = *slot_of(t, parent, name, len);

    return node ? node : TREE_NONE;
}

static int grow_tree(struct tree *t, struct err *err)
{
    if (t->cap > UINT32_MAX / 4)
        return err_set(err, ERR_LIMIT, "too many paths");
    uint32_t cap = t->cap * 2;
    struct tree_node *nodes = realloc(t->nodes, cap * sizeof(*nodes));
    if (!nodes)
        return err_nomem(err);
    t->nodes = nodes;
    t->cap = cap;
    uint32_t *slots = calloc((size_t)cap * 2, sizeof(*slots));
    if (!slots)
        return err_nomem(err);
    free(t->slots);
    t->slots = slots;
    t->mask = cap * 2 - 1;
    for (uint32_t i = 1; i < t->count; i++) {
        const struct tree_node *n = &t->nodes[i];
        *slot_of(t, n->parent, t->names.data + n->name, n->name_len) = i;
    }
    return 0;
}

uint32_t tree_child(struct tree *t, uint32_t parent, const char *name, size_t len, struct err *err)
{
    uint32_t *slot = slot_of(t, parent, name, len);

    if (*slot)
        return *slot;
    if (t->count == t->cap) {
        if (grow_tree(t, err) < 0)
            return TREE_NONE;
        slot = slot_of(t, parent, name, len);
    }
    size_t at = t->names.len;
    buf_append(&t->names, name, len);
    if (buf_check(&t->names, err) < 0)
        return TREE_NONE;
    if (t->names.len > UINT32_MAX) {
        err_set(err, ERR_LIMIT, "more than 4 GiB of path names");
        return TREE_NONE;
    }
    t->nodes[t->count] =
        (struct tree_node){.parent = parent, .name = (uint32_t)at, .name_len = (uint32_t)len};
    *slot = t->count;
    return t->count++;
}

void tree_path(const struct tree *t, uint32_t node, struct buf *out)
{
    size_t len = 0;

    for (uint32_t n = node; n != TREE_ROOT; n = t->nodes[n].parent)
        len += t->nodes[n].name_len + 1;
    if (len == 0) {
        buf_append(out, "", 0);
        return;
    }
    len--; /* no slash before the first name */
    char *start = buf_reserve(out, len);
    if (!start)
        return;
    char *end = start + len;
    for (uint32_t n = node; n != TREE_ROOT; n = t->nodes[n].parent) {
        const struct tree_node *node_ = &t->nodes[n];
        end -= node_->name_len;
        memcpy(end, t->names.data + node_->name, node_->name_len);
        if (end > start)
            *--end = '/';
    }
    out->len += len;
    out->data[out->len] = '\0';
}

const char *tree_path_in(const struct tree *t, uint32_t node, struct buf *out)
{
    buf_truncate(out, 0);
    tree_path(t, node, out);
    return out->failed ? NULL : out->data;
}
