#include "flatten/analyze/bytes/layer_stack_read.h"

#include "flatten/analyze/bytes/contents.h"

#include <string.h>

struct stack_reading {
    struct layer_stack *stack;
    struct kept_files *kept; /* or NULL */
};

/* Reads the content if it is kept, or if it passes by: hashing it now saves a second reading. */
static int read_content(struct stack_reading *r, const struct tree *tree,
                        struct layer_reader *reader, struct stack_file *file, uint32_t inode,
                        struct err *err)
{
    char *copy = NULL;

    if (r->kept && r->kept->wants(tree, file->node) &&
        kept_files_add(r->kept, file->node, inode, file->size, &copy, err) < 0)
        return -1;
    if (!copy && layer_reader_skips(reader))
        return 0;
    return contents_copy(reader, file->size, copy, &file->quick, err);
}

static int on_file(void *ctx, const struct tree *tree, const struct layer *layer,
                   struct layer_reader *reader, const struct layer_entry *e, uint32_t node,
                   uint32_t inode, struct err *err)
{
    struct stack_reading *r = ctx;
    struct stack_file file = {.size = (uint64_t)archive_entry_size(e->header),
                              .node = node,
                              .ordinal = e->info.ordinal,
                              .layer = (uint16_t)layer->number};

    if (read_content(r, tree, reader, &file, inode, err) < 0)
        return layer_entry_wrap(layer, e, err);
    return layer_stack_add_file(r->stack, inode, &file, err);
}

static int on_record(void *ctx, struct tree *tree, unsigned layer, uint32_t node,
                     enum model_kind kind, const struct model_slot *slot, struct err *err)
{
    struct stack_reading *r = ctx;

    r->stack->tree = tree;
    return layer_stack_add(r->stack, layer, node, kind, slot, err);
}

int layer_stack_read(const struct image *image, const struct merged_options *options,
                     struct kept_files *kept, struct layer_stack *out, struct merge_index **index,
                     struct merged_report *report, struct err *err)
{
    struct stack_reading reading = {out, kept};
    struct merge_index_observer observer = {.ctx = &reading, .file = on_file, .holds = on_record};
    struct merged_options o = *options;

    if (image->layer_count > LAYER_STACK_MOST)
        return err_set(err, ERR_LIMIT, "more than %d layers", LAYER_STACK_MOST);
    *out = (struct layer_stack){.layers = (unsigned)image->layer_count};
    *report = (struct merged_report){.layers = (unsigned)image->layer_count};
    o.semantics = SEMANTICS_OVERLAY;
    *index = merge_index_new(image, &o, &observer, report, err);
    if (!*index)
        return -1;
    out->tree = (*index)->tree;
    return 0;
}
