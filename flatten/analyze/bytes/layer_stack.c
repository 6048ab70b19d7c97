#include "flatten/analyze/bytes/layer_stack.h"

#include <string.h>

const char *const dead_cause_text[DEAD_CAUSES] = {"overwritten", "metadata only", "deleted",
                                                  "opaque directory", "type changed"};
const char *const dead_cause_key[DEAD_CAUSES] = {"overwritten", "metadata", "deleted", "opaque",
                                                 "type"};

void layer_stack_clear(struct layer_stack *s)
{
    free(s->records);
    free(s->newest);
    free(s->files);
    *s = (struct layer_stack){0};
}

/* Makes room for element `at` of a list; new elements are zeroed. Returns the list, or NULL. */
static void *grow_list(void *list, size_t *cap, size_t at, size_t size, struct err *err)
{
    if (at < *cap)
        return list;
    size_t bigger = at + at / 2 + 1024;
    char *grown = bigger > UINT32_MAX ? NULL : realloc(list, bigger * size);
    if (!grown) {
        err_nomem(err);
        return NULL;
    }
    memset(grown + *cap * size, 0, (bigger - *cap) * size);
    *cap = bigger;
    return grown;
}

static int make_node(struct layer_stack *s, uint32_t node, struct err *err)
{
    size_t cap = s->node_cap;
    uint32_t *newest = grow_list(s->newest, &cap, node, sizeof(*newest), err);

    if (!newest)
        return -1;
    s->newest = newest;
    s->node_cap = (uint32_t)cap;
    for (; s->nodes <= node; s->nodes++)
        s->newest[s->nodes] = STACK_NONE;
    return 0;
}

/* A directory with an entry in the same layer is no leaf. */
static void mark_parent(struct layer_stack *s, uint32_t node, unsigned layer)
{
    uint32_t parent = tree_parent(s->tree, node);
    uint32_t at = parent == TREE_NONE ? STACK_NONE : layer_stack_newest(s, parent);

    if (at != STACK_NONE && s->records[at].layer == layer)
        s->records[at].leaf = false;
}

int layer_stack_add(struct layer_stack *s, unsigned layer, uint32_t node, enum model_kind kind,
                    const struct model_slot *slot, struct err *err)
{
    struct stack_record *records = grow_list(s->records, &s->cap, s->count, sizeof(*records), err);

    if (!records)
        return -1;
    s->records = records;
    if (make_node(s, node, err) < 0)
        return -1;
    struct stack_record *r = &s->records[s->count];
    *r = (struct stack_record){.node = node,
                               .older = s->newest[node],
                               .inode = slot->inode,
                               .layer = (uint16_t)layer,
                               .kind = (uint8_t)kind,
                               .opaque = slot->opaque && node != TREE_ROOT,
                               .leaf = !slot->opaque};
    const struct stack_file *file = stack_record_file(s, r);
    if (file && file->node == node && file->layer == layer)
        r->size = file->size;
    s->newest[node] = (uint32_t)s->count++;
    if (layer > s->layers)
        s->layers = layer;
    mark_parent(s, node, layer);
    return 0;
}

int layer_stack_add_file(struct layer_stack *s, uint32_t inode, const struct stack_file *file,
                         struct err *err)
{
    struct stack_file *files = grow_list(s->files, &s->file_cap, inode, sizeof(*files), err);

    if (!files)
        return -1;
    s->files = files;
    s->files[inode] = *file;
    if (inode >= s->file_count)
        s->file_count = (size_t)inode + 1;
    return 0;
}

uint32_t layer_stack_newest(const struct layer_stack *s, uint32_t node)
{
    return node < s->nodes ? s->newest[node] : STACK_NONE;
}

struct stack_file *stack_record_file(const struct layer_stack *s, const struct stack_record *r)
{
    if (r->kind != MODEL_OTHER || r->inode >= s->file_count || s->files[r->inode].layer == 0)
        return NULL;
    return &s->files[r->inode];
}

const char *layer_stack_path(const struct layer_stack *s, uint32_t node, struct buf *out)
{
    buf_truncate(out, 0);
    tree_path(s->tree, node, out);
    return out->data ? out->data : "";
}

static uint16_t floor_of(const struct layer_stack *s, uint32_t node, uint16_t above)
{
    uint32_t at = layer_stack_newest(s, node);

    for (; at != STACK_NONE && s->records[at].layer >= above; at = s->records[at].older) {
        const struct stack_record *r = &s->records[at];
        if (r->kind != MODEL_DIR)
            return (uint16_t)(r->layer + 1);
        if (r->opaque)
            return r->layer;
    }
    return above;
}

/* A parent has a smaller number than its children, so its floor is known. */
uint16_t *layer_stack_floors(const struct layer_stack *s, struct err *err)
{
    uint32_t count = tree_count(s->tree);
    uint16_t *floors = calloc(count, sizeof(*floors));

    if (!floors) {
        err_nomem(err);
        return NULL;
    }
    floors[TREE_ROOT] = 1;
    for (uint32_t node = 1; node < count; node++)
        floors[node] = floor_of(s, node, floors[tree_parent(s->tree, node)]);
    return floors;
}

const struct stack_record *layer_stack_visible(const struct layer_stack *s, const uint16_t *floors,
                                               uint32_t node)
{
    uint32_t at = layer_stack_newest(s, node);
    const struct stack_record *r = at == STACK_NONE ? NULL : &s->records[at];

    if (node == TREE_ROOT)
        return r;
    if (!r || r->kind == MODEL_WHITEOUT || r->layer < floors[tree_parent(s->tree, node)])
        return NULL;
    return r;
}
