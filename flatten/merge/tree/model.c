#include "flatten/merge/tree/model.h"

#include <string.h>

void model_free(struct model *m)
{
    free(m->slots);
    *m = (struct model){0};
}

int model_copy(const struct model *from, struct model *to, struct err *err)
{
    *to = *from;
    if (!from->count)
        return 0;
    to->slots = malloc(from->count * sizeof(*to->slots));
    if (!to->slots) {
        *to = (struct model){0};
        return err_nomem(err);
    }
    memcpy(to->slots, from->slots, from->count * sizeof(*to->slots));
    return 0;
}

struct model_slot *model_slot(struct model *m, uint32_t node, struct err *err)
{
    if (node >= m->count) {
        uint32_t count = node < UINT32_MAX / 2 ? node * 2 + 64 : UINT32_MAX;
        struct model_slot *slots = realloc(m->slots, count * sizeof(*slots));
        if (!slots) {
            err_nomem(err);
            return NULL;
        }
        memset(slots + m->count, 0, (count - m->count) * sizeof(*slots));
        m->slots = slots;
        m->count = count;
    }
    return &m->slots[node];
}

enum model_kind model_kind(const struct model *m, const struct tree *t, uint32_t node)
{
    if (node == TREE_ROOT)
        return MODEL_DIR;
    if (node >= m->count)
        return MODEL_NOTHING;
    const struct model_slot *slot = &m->slots[node];
    if (slot->kind == MODEL_NOTHING)
        return MODEL_NOTHING;
    for (uint32_t up = tree_parent(t, node); up != TREE_NONE; up = tree_parent(t, up))
        if (up < m->count && slot->stamp < m->slots[up].emptied)
            return MODEL_NOTHING;
    return slot->kind;
}

enum model_kind model_kind_below(const struct model *m, uint32_t node, uint32_t floor)
{
    if (node >= m->count || m->slots[node].stamp < floor)
        return MODEL_NOTHING;
    return m->slots[node].kind;
}

uint32_t model_floor(const struct model *m, uint32_t node, uint32_t above)
{
    uint32_t emptied = node < m->count ? m->slots[node].emptied : 0;

    return emptied > above ? emptied : above;
}

int model_set(struct model *m, uint32_t node, enum model_kind kind, uint32_t inode, struct err *err)
{
    struct model_slot *slot = model_slot(m, node, err);

    if (!slot)
        return -1;
    slot->kind = (uint8_t)kind;
    slot->inode = inode;
    slot->opaque = false;
    slot->stamp = m->clock;
    return 0;
}

uint32_t model_mark(struct model *m)
{
    return ++m->clock;
}

int model_empty(struct model *m, uint32_t node, uint32_t mark, struct err *err)
{
    struct model_slot *slot = model_slot(m, node, err);

    if (!slot)
        return -1;
    if (slot->emptied < mark)
        slot->emptied = mark;
    return 0;
}
