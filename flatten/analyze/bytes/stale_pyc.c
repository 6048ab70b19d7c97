#include "flatten/analyze/bytes/stale_pyc.h"

#include <string.h>

/*
 * A .pyc starts with magic, flags, and (flags 0, PEP 552) the low 32 bits of its source's time and
 * size. If they do not match, Python compiles the source again: at every import, or, if it may
 * write the .pyc, once in each container.
 */
enum { FLAGS_AT = 4, TIME_AT = 8, SIZE_AT = 12 };

static const struct stack_file *visible_file(const struct layer_stack *s, const uint16_t *floors,
                                             uint32_t node)
{
    const struct stack_record *r = node == TREE_NONE ? NULL : layer_stack_visible(s, floors, node);

    return r ? stack_record_file(s, r) : NULL;
}

/* Returns "NAME.pyc" of a path "DIR/__pycache__/NAME.pyc"; NULL for other paths. */
static const char *compiled_name(const char *path)
{
    static const char cache[] = "__pycache__/";
    const char *slash = strrchr(path, '/');
    size_t len = strlen(path), head = slash ? (size_t)(slash + 1 - path) : 0;

    if (len < 4 || strcmp(path + len - 4, ".pyc") != 0 || head < sizeof(cache) - 1 ||
        memcmp(slash + 1 - (sizeof(cache) - 1), cache, sizeof(cache) - 1) != 0)
        return NULL;
    size_t dir = head - (sizeof(cache) - 1);
    return dir == 0 || path[dir - 1] == '/' ? slash + 1 : NULL;
}

/* Returns the node of the source: "m.py" for "m.cpython-311.opt-1.pyc". */
static uint32_t source_of(const struct layer_stack *s, uint32_t node, const char *name)
{
    size_t len = strcspn(name, ".");
    uint32_t dir = tree_parent(s->tree, tree_parent(s->tree, node));
    char source[260];

    if (len + sizeof(".py") > sizeof(source))
        return TREE_NONE;
    memcpy(source, name, len);
    memcpy(source + len, ".py", sizeof(".py"));
    return tree_find(s->tree, dir, source, len + 3);
}

/* Returns the .pyc that shows at a node, or NULL. *source: its source, or NULL. */
static const struct stack_file *compiled_at(const struct layer_stack *s, const uint16_t *floors,
                                            uint32_t node, struct buf *path,
                                            const struct stack_file **source)
{
    const struct stack_file *file = visible_file(s, floors, node);
    const char *name = file ? compiled_name(layer_stack_path(s, node, path)) : NULL;

    if (!name)
        return NULL;
    *source = visible_file(s, floors, source_of(s, node, name));
    return file;
}

int stale_pyc_want(const struct layer_stack *s, const uint16_t *floors, uint8_t *wanted,
                   struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    const struct stack_file *source;

    for (uint32_t node = 1; node < s->nodes; node++) {
        const struct stack_file *file = compiled_at(s, floors, node, &path, &source);
        if (!file)
            continue;
        wanted[file - s->files] |= CONTENT_HEAD;
        if (source)
            wanted[source - s->files] |= CONTENT_TIME;
    }
    return buf_check(&path, err);
}

static bool is_stale(const struct contents *c, const struct layer_stack *s,
                     const struct stack_file *file, const struct stack_file *source)
{
    const struct content *head = contents_find(&c->heads, (uint32_t)(file - s->files));
    const struct content *time = contents_find(&c->times, (uint32_t)(source - s->files));

    if (!head || !time || contents_u32(head->bytes + FLAGS_AT) != 0)
        return false;
    return contents_u32(head->bytes + TIME_AT) != contents_u32(time->bytes) ||
           contents_u32(head->bytes + SIZE_AT) != (uint32_t)source->size;
}

int stale_pyc_find(const struct duplicate_image *image, const uint16_t *floors,
                   struct stale_report *out, struct err *err)
{
    const struct layer_stack *s = image->stack;
    _cleanup_buf_ struct buf path = BUF_INIT;
    const struct stack_file *source;

    *out = (struct stale_report){0};
    for (uint32_t node = 1; node < s->nodes; node++) {
        const struct stack_file *file = compiled_at(s, floors, node, &path, &source);
        if (!file)
            continue;
        out->compiled++;
        if (source && !is_stale(image->contents, s, file, source))
            continue;
        out->stale += source != NULL;
        out->orphan += source == NULL;
        out->bytes += file->size;
        if (source && out->worst_count < STALE_WORST)
            out->worst[out->worst_count++] = node;
    }
    return buf_check(&path, err);
}
