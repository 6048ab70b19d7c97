#include "flatten/merged.h"

#include "flatten/emit.h"
#include "flatten/index.h"

/*
 * Writing from an index: all directories first, then each layer's files as they come by, each
 * followed by the links to it.
 */
struct indexed {
    const struct index *index;
    struct entry_sink *sink;
    struct merged_report *report;
    uint32_t *next_name; /* by node: the next name of the same file, or 0 */
    struct buf path, target;
};

static void indexed_clear(struct indexed *w)
{
    free(w->next_name);
    buf_free(&w->path);
    buf_free(&w->target);
}

static const char *path_of(struct indexed *w, uint32_t node, struct buf *out)
{
    buf_truncate(out, 0);
    tree_path(w->index->tree, node, out);
    return out->failed ? NULL : out->data;
}

/* Chains the further names of each file behind its first. */
static int chain_names(struct indexed *w, struct err *err)
{
    const struct index *x = w->index;

    w->next_name = calloc(tree_count(x->tree), sizeof(*w->next_name));
    if (!w->next_name)
        return err_nomem(err);
    for (uint32_t node = tree_count(x->tree); node-- > 1;) {
        enum model_kind kind = model_kind(&x->merged, x->tree, node);
        if (kind != MODEL_SYMLINK && kind != MODEL_OTHER)
            continue;
        uint32_t first = x->inodes[x->merged.slots[node].inode].first;
        if (first != node) {
            w->next_name[node] = w->next_name[first];
            w->next_name[first] = node;
        }
    }
    return 0;
}

static int write_dir(struct indexed *w, const char *path, const struct attributes *attributes,
                     struct archive_entry *plain, struct err *err)
{
    if (!attributes)
        return emit_implied(w->sink, path, plain, err);
    _cleanup_entry_ struct archive_entry *header = attributes_entry(attributes, err);
    return header ? emit_entry(w->sink, path, header, NULL, NULL, err) : -1;
}

static int write_dirs(struct indexed *w, struct archive_entry *plain, struct err *err)
{
    const struct index *x = w->index;

    for (uint32_t node = 0; node < tree_count(x->tree) && node < x->merged.count; node++) {
        const struct model_slot *slot = &x->merged.slots[node];
        if (model_kind(&x->merged, x->tree, node) != MODEL_DIR ||
            (node == TREE_ROOT && slot->kind != MODEL_DIR))
            continue;
        const char *path = path_of(w, node, &w->path);
        if (!path)
            return err_nomem(err);
        if (write_dir(w, path, x->inodes[slot->inode].header, plain, err) < 0)
            return -1;
        w->report->entries_out++;
    }
    return 0;
}

static int write_names(struct indexed *w, const struct index_inode *inode,
                       struct archive_entry *attributes, struct err *err)
{
    uint32_t node = inode->first;

    while ((node = w->next_name[node])) {
        const char *link = path_of(w, node, &w->path);
        const char *target = path_of(w, inode->first, &w->target);
        if (!link || !target)
            return err_nomem(err);
        if (emit_link(w->sink, link, target, attributes, err) < 0)
            return -1;
        w->report->entries_out++;
    }
    return 0;
}

/* The file under its first name, then its other names, all with the attributes that it ended with.
 */
static int write_file(struct indexed *w, const struct index_inode *inode,
                      const struct layer_entry *e, struct layer_reader *reader, struct err *err)
{
    _cleanup_entry_ struct archive_entry *changed = NULL;
    struct archive_entry *attributes = e->header;
    const char *path = path_of(w, inode->first, &w->path);

    if (!path)
        return err_nomem(err);
    if (inode->header) {
        attributes = changed = attributes_entry(inode->header, err);
        if (!changed || emit_adopt(changed, e->header, err) < 0)
            return -1;
    }
    if (emit_materialised(w->sink, path, attributes, e->header, reader, &w->report->payload_out,
                          err) < 0)
        return -1;
    w->report->entries_out++;
    return write_names(w, inode, attributes, err);
}

/* Inodes stand in the order of layers and entries, so one cursor serves the whole image. */
static int write_layer(struct indexed *w, const struct layer *layer, size_t *cursor,
                       struct err *err)
{
    const struct index *x = w->index;
    _cleanup_layer_reader_ struct layer_reader *reader = layer_reader_open(layer, err);
    struct layer_entry e;
    int rc;

    if (!reader)
        return -1;
    while ((rc = layer_reader_next(reader, &e, err)) > 0) {
        const struct index_inode *inode = &x->inodes[*cursor];
        if (*cursor == x->inode_count || inode->layer != layer->number ||
            inode->ordinal != e.in.ordinal)
            continue;
        ++*cursor;
        if (inode->first != TREE_NONE && write_file(w, inode, &e, reader, err) < 0)
            return layer_entry_wrap(layer, &e, err);
    }
    return rc;
}

int merged_indexed(const struct image *image, const struct merged_options *options,
                   struct entry_sink *sink, struct merged_report *report, struct err *err)
{
    size_t cursor = INDEX_IMPLIED + 1;

    *report = (struct merged_report){.layers = (unsigned)image->layer_count};
    _cleanup_index_ struct index *x = index_new(image, options, report, err);
    _cleanup_(indexed_clear) struct indexed w = {.index = x, .sink = sink, .report = report};
    struct archive_entry *plain = x ? archive_entry_new() : NULL;
    if (!x)
        return -1;
    if (!plain)
        return err_nomem(err);
    int rc = chain_names(&w, err);
    if (rc == 0)
        rc = write_dirs(&w, plain, err);
    archive_entry_free(plain);
    for (size_t i = 0; rc == 0 && i < image->layer_count; i++)
        rc = write_layer(&w, &image->layers[i], &cursor, err);
    return rc;
}
