#include "flatten/analyze/carving/carve_files.h"

#include "flatten/stream/ustar.h"

void carve_files_clear(struct carve_files *f)
{
    free(f->files);
    free(f->names);
    free(f->is_dir);
    *f = (struct carve_files){0};
}

static size_t count_inodes(const struct layer_stack *s)
{
    size_t count = 1;

    for (size_t i = 0; i < s->count; i++)
        if (s->records[i].inode >= count)
            count = (size_t)s->records[i].inode + 1;
    return count;
}

/* Adds a file, or one more name of it. *file: its index + 1, 0 if it is new. */
static void add_name(const struct carve_input *in, const struct stack_record *r, uint32_t *file,
                     struct carve_files *out)
{
    const struct stack_file *content = stack_record_file(in->stack, r);
    uint64_t size = content ? content->size : 0;
    uint32_t owner = in->owners->by_node[r->node];

    if (*file == 0) {
        out->files[out->file_count++] = (struct layout_file){
            .node = r->node, .owner = owner, .bytes = size + ustar_padding(size) + USTAR_BLOCK};
        *file = (uint32_t)out->file_count;
        return;
    }
    struct layout_file *f = &out->files[*file - 1];
    f->owner = owners_stronger(in->owners, f->owner, owner);
    f->bytes += USTAR_BLOCK;
    out->names[out->name_count++] = (struct layout_name){r->node, *file - 1};
}

int carve_files_list(const struct carve_input *in, struct carve_files *out, struct err *err)
{
    const struct layer_stack *s = in->stack;
    _cleanup_free_ uint16_t *floors = layer_stack_floors(s, err);
    _cleanup_free_ uint32_t *by_inode = calloc(count_inodes(s), sizeof(*by_inode));

    *out = (struct carve_files){0};
    if (!floors)
        return -1;
    out->files = calloc(s->nodes + 1, sizeof(*out->files));
    out->names = calloc(s->nodes + 1, sizeof(*out->names));
    out->is_dir = calloc(tree_count(s->tree), sizeof(*out->is_dir));
    if (!by_inode || !out->files || !out->names || !out->is_dir)
        return err_nomem(err);
    out->is_dir[TREE_ROOT] = 1;
    for (uint32_t node = 1; node < s->nodes; node++) {
        const struct stack_record *r = layer_stack_visible(s, floors, node);
        if (r && r->kind == MODEL_DIR)
            out->is_dir[node] = 1;
        else if (r)
            add_name(in, r, &by_inode[r->inode], out);
    }
    return 0;
}
