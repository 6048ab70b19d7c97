#include "flatten/analyze/owners/owner_view.h"

#include <string.h>

/* Returns the newest record of the node that is no whiteout, or STACK_NONE. */
static uint32_t newest_entry(const struct layer_stack *s, uint32_t node)
{
    uint32_t at = layer_stack_newest(s, node);

    while (at != STACK_NONE && s->records[at].kind == MODEL_WHITEOUT)
        at = s->records[at].older;
    return at;
}

int owner_view_init(struct owner_view *v, const struct owner_input *in, struct err *err)
{
    const struct layer_stack *s = in->stack;
    uint32_t count = tree_count(s->tree);
    _cleanup_free_ uint16_t *floors = layer_stack_floors(s, err);

    *v = (struct owner_view){.in = in};
    if (!floors)
        return -1;
    v->records = calloc(count, sizeof(*v->records));
    v->shows = calloc(count, sizeof(*v->shows));
    if (!v->records || !v->shows)
        return err_nomem(err);
    for (uint32_t node = 0; node < count; node++) {
        v->records[node] = newest_entry(s, node);
        v->shows[node] = layer_stack_visible(s, floors, node) != NULL;
    }
    return 0;
}

void owner_view_clear(struct owner_view *v)
{
    free(v->records);
    free(v->shows);
    *v = (struct owner_view){0};
}

/* ---- what owners_find asks ---- */

/* Returns the record of what is at the node, or NULL. */
static const struct stack_record *record_at(const struct owner_view *v, uint32_t node)
{
    uint32_t at = v->records[node];

    return at != STACK_NONE && (v->hidden || v->shows[node]) ? &v->in->stack->records[at] : NULL;
}

static int64_t file_size(void *ctx, uint32_t node)
{
    const struct owner_view *v = ctx;
    const struct stack_record *r = record_at(v, node);
    const struct stack_file *file = r ? stack_record_file(v->in->stack, r) : NULL;
    const struct kept_file *kept = file ? kept_files_find(v->in->databases, r->inode) : NULL;

    if (!file)
        return -1;
    return kept && kept->cut ? 0 : (int64_t)file->size;
}

/* The content of a database that no name told from other files reads as zeros: it has no lines. */
static int read_file(void *ctx, uint32_t node, uint64_t offset, void *data, size_t len,
                     struct err *err)
{
    const struct owner_view *v = ctx;
    const struct stack_record *r = record_at(v, node);
    const struct kept_file *kept = r ? kept_files_find(v->in->databases, r->inode) : NULL;

    (void)err;
    if (kept && kept->data && offset <= kept->len && len <= kept->len - offset)
        memcpy(data, kept->data + offset, len);
    else
        memset(data, 0, len);
    return 0;
}

static bool file_is_dir(void *ctx, uint32_t node)
{
    const struct stack_record *r = record_at(ctx, node);

    return node == TREE_ROOT || (r && r->kind == MODEL_DIR);
}

static const char *file_link(void *ctx, uint32_t node)
{
    const struct owner_view *v = ctx;
    const struct stack_record *r = record_at(v, node);

    return r && r->kind == MODEL_SYMLINK && r->inode < v->in->symlink_count
               ? v->in->symlinks[r->inode]
               : NULL;
}

struct owner_source owner_view_source(struct owner_view *v)
{
    return (struct owner_source){.tree = v->in->stack->tree,
                                 .size = file_size,
                                 .read = read_file,
                                 .is_dir = file_is_dir,
                                 .link = file_link,
                                 .ctx = v};
}
