#include "flatten/merge/merged_indexed.h"

#include "flatten/layer/emit.h"
#include "flatten/merge/delta.h"

/*
 * Writing from an index: all directories and whiteouts first, then each layer's files as they come
 * by, each followed by the links to it.
 */
struct indexed {
    const struct merge_index *index;
    struct delta delta;
    struct entry_sink *sink;
    struct merged_report *report;
    uint32_t *next_name; /* by node: the next name of the same file, or 0 */
    struct buf path, target;
};

static void indexed_clear(struct indexed *w)
{
    free(w->next_name);
    delta_clear(&w->delta);
    buf_free(&w->path);
    buf_free(&w->target);
}

/* Chains the further names of each file behind its first. */
static int chain_names(struct indexed *w, struct err *err)
{
    const struct merge_index *x = w->index;

    w->next_name = calloc(tree_count(x->tree), sizeof(*w->next_name));
    if (!w->next_name)
        return err_nomem(err);
    for (uint32_t node = tree_count(x->tree); node-- > 1;) {
        if (!model_is_file(model_kind(&x->merged, x->tree, node)))
            continue;
        uint32_t first = x->inodes[x->merged.slots[node].inode].first;
        if (first != node) {
            w->next_name[node] = w->next_name[first];
            w->next_name[first] = node;
        }
    }
    return 0;
}

static int write_dir(struct indexed *w, uint32_t node, struct err *err)
{
    const struct merge_index *x = w->index;
    const char *path = tree_path_in(w->index->tree, node, &w->path);
    _cleanup_entry_ struct archive_entry *header =
        attributes_entry(x->inodes[x->merged.slots[node].inode].header, err);

    w->report->entries_out++;
    if (!header)
        return -1;
    return path ? emit_entry(w->sink, path, header, NULL, NULL, err) : err_nomem(err);
}

static int write_whiteout(struct indexed *w, uint32_t node, struct err *err)
{
    const char *path = tree_path_in(w->index->tree, node, &w->path);

    w->report->entries_out++;
    w->report->whiteouts++;
    if (!path)
        return err_nomem(err);
    return w->delta.nodes[node] & DELTA_OPAQUE ? emit_opaque(w->sink, path, err)
                                               : emit_whiteout(w->sink, path, err);
}

/* Nodes are numbered parents first. */
static int write_dirs(struct indexed *w, struct err *err)
{
    const struct merge_index *x = w->index;

    for (uint32_t node = 0; node < w->delta.count; node++) {
        uint8_t flags = w->delta.nodes[node];
        bool dir = model_kind(&x->merged, x->tree, node) == MODEL_DIR;
        if (dir && (flags & DELTA_WRITE) && write_dir(w, node, err) < 0)
            return -1;
        if ((flags & (DELTA_OPAQUE | DELTA_WHITEOUT)) && write_whiteout(w, node, err) < 0)
            return -1;
    }
    return 0;
}

static int write_names(struct indexed *w, const struct merge_index_inode *inode,
                       struct archive_entry *attributes, struct err *err)
{
    uint32_t node = inode->first;

    while ((node = w->next_name[node])) {
        const char *link = tree_path_in(w->index->tree, node, &w->path);
        const char *target = tree_path_in(w->index->tree, inode->first, &w->target);
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
static int write_file(struct indexed *w, const struct merge_index_inode *inode,
                      const struct layer_entry *e, struct layer_reader *reader, struct err *err)
{
    _cleanup_entry_ struct archive_entry *changed = NULL;
    struct archive_entry *attributes = e->header;
    const char *path = tree_path_in(w->index->tree, inode->first, &w->path);

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

static bool is_at_entry(const struct indexed *w, const struct layer *layer, uint32_t ordinal,
                        size_t cursor)
{
    const struct merge_index *x = w->index;

    return cursor < x->inode_count && x->inodes[cursor].layer == layer->number &&
           x->inodes[cursor].ordinal == ordinal;
}

static bool is_wanted(const struct indexed *w, size_t inode)
{
    return w->delta.inodes[inode] && w->index->inodes[inode].first != TREE_NONE;
}

/* Inodes stand in the order of layers and entries, so one cursor serves the whole image. */
static int write_layer(struct indexed *w, const struct layer *layer, size_t *cursor,
                       struct err *err)
{
    _cleanup_layer_reader_ struct layer_reader *reader = layer_reader_open(layer, err);
    struct layer_entry e;
    int rc;

    if (!reader)
        return -1;
    while ((rc = layer_reader_next(reader, &e, err)) > 0)
        for (; is_at_entry(w, layer, e.info.ordinal, *cursor); ++*cursor)
            if (is_wanted(w, *cursor) &&
                write_file(w, &w->index->inodes[*cursor], &e, reader, err) < 0)
                return layer_entry_wrap(layer, &e, err);
    return rc;
}

/* Kept layers are read again only for what newer ones link to. */
static int write_files(struct indexed *w, const struct image *image, struct err *err)
{
    const struct merge_index *x = w->index;
    size_t cursor = MERGE_INDEX_NO_INODE + 1;

    for (size_t i = 0; i < image->layer_count; i++) {
        const struct layer *layer = &image->layers[i];
        bool due = layer->number > x->kept_layers;
        size_t end = cursor;
        for (; end < x->inode_count && x->inodes[end].layer == layer->number; end++)
            due = due || is_wanted(w, end);
        if (due && write_layer(w, layer, &cursor, err) < 0)
            return -1;
        cursor = end;
    }
    return 0;
}

int merged_indexed(const struct image *image, const struct merged_options *options,
                   struct entry_sink *sink, struct merged_report *report, struct err *err)
{
    _cleanup_merge_index_ struct merge_index *x =
        merge_index_new(image, options, NULL, report, err);
    _cleanup_(indexed_clear) struct indexed w = {.index = x, .sink = sink, .report = report};

    if (!x || delta_make(x, &w.delta, err) < 0 || chain_names(&w, err) < 0 ||
        write_dirs(&w, err) < 0)
        return -1;
    return write_files(&w, image, err);
}
