#include "flatten/merge/merged.h"

#include "flatten/image/feed.h"
#include "flatten/layer/emit.h"
#include "flatten/merge/delta.h"

/*
 * Writing from an index: all directories and whiteouts first, then each layer's files as they come
 * by, each followed by the links to it.
 */
struct indexed {
    const struct index *index;
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

static int write_dir(struct indexed *w, uint32_t node, struct err *err)
{
    const struct index *x = w->index;
    const char *path = path_of(w, node, &w->path);
    _cleanup_entry_ struct archive_entry *header =
        attributes_entry(x->inodes[x->merged.slots[node].inode].header, err);

    w->report->entries_out++;
    if (!header)
        return -1;
    return path ? emit_entry(w->sink, path, header, NULL, NULL, err) : err_nomem(err);
}

static int write_whiteout(struct indexed *w, uint32_t node, struct err *err)
{
    const char *path = path_of(w, node, &w->path);

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
    const struct index *x = w->index;

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

static bool at_entry(const struct indexed *w, const struct layer *layer, uint32_t ordinal,
                     size_t cursor)
{
    const struct index *x = w->index;

    return cursor < x->inode_count && x->inodes[cursor].layer == layer->number &&
           x->inodes[cursor].ordinal == ordinal;
}

static bool wanted(const struct indexed *w, size_t inode)
{
    return w->delta.inodes[inode] && w->index->inodes[inode].first != TREE_NONE;
}

/* Inodes stand in the order of layers and entries: the cursor is at the layer's first. */
static int write_layer(struct indexed *w, const struct layer *layer, struct layer_reader *reader,
                       size_t *cursor, struct err *err)
{
    struct layer_entry e;
    int rc;

    while ((rc = layer_reader_next(reader, &e, err)) > 0)
        for (; at_entry(w, layer, e.in.ordinal, *cursor); ++*cursor)
            if (wanted(w, *cursor) &&
                write_file(w, &w->index->inodes[*cursor], &e, reader, err) < 0)
                return layer_entry_wrap(layer, &e, err);
    return rc;
}

/* A layer to be read. */
struct turn {
    const struct layer *layer;
    size_t cursor;
    bool wanted; /* something of it is to be written */
    bool due;    /* or it is to be checked, at least */
};

/* Kept layers are looked at again only for what newer ones link to. */
static void list_turns(const struct indexed *w, const struct image *image, struct turn *turns)
{
    const struct index *x = w->index;
    size_t inode = INDEX_NO_INODE + 1;

    for (size_t i = 0; i < image->layer_count; i++) {
        struct turn *t = &turns[i];
        *t = (struct turn){.layer = &image->layers[i], .cursor = inode};
        for (; inode < x->inode_count && x->inodes[inode].layer == t->layer->number; inode++)
            t->wanted = t->wanted || wanted(w, inode);
        t->due = t->wanted || t->layer->number > x->kept_layers;
    }
}

static int take_turn(struct indexed *w, struct turn *t, struct feed *feed, struct err *err)
{
    _cleanup_layer_reader_ struct layer_reader *reader =
        feed ? feed_layer(feed, t->layer, err) : layer_reader_open(t->layer, err);

    t->due = false;
    return reader ? write_layer(w, t->layer, reader, &t->cursor, err) : -1;
}

/* ---- as they lie ---- */

static int by_place(const void *a, const void *b)
{
    const struct layer *x = ((const struct turn *)a)->layer, *y = ((const struct turn *)b)->layer;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->number > y->number ? -1 : x->number < y->number;
}

static bool is_same_place(const struct turn *a, const struct turn *b)
{
    return a->layer->offset == b->layer->offset &&
           digest_equal(&a->layer->diff_id, &b->layer->diff_id);
}

/* Of layers that are one and the same: one that has something to show, or any for the check. */
static struct turn *choose(struct turn *turns, size_t count)
{
    struct turn *chosen = NULL;

    for (size_t i = 0; i < count; i++)
        if (turns[i].due && (!chosen || (turns[i].wanted && !chosen->wanted)))
            chosen = &turns[i];
    return chosen;
}

/* One reading of all that is due. *more: one was the same as another that was written. */
static int read_through(struct indexed *w, struct turn *turns, size_t count, struct feed *feed,
                        bool *more, struct err *err)
{
    size_t same;

    *more = false;
    for (size_t i = 0; i < count; i += same) {
        for (same = 1; i + same < count && is_same_place(&turns[i], &turns[i + same]);)
            same++;
        struct turn *t = choose(turns + i, same);
        if (t && take_turn(w, t, feed, err) < 0)
            return -1;
        for (size_t k = i; k < i + same; k++) {
            turns[k].due = turns[k].due && turns[k].wanted;
            *more = *more || turns[k].due;
        }
    }
    return 0;
}

static int write_as_they_lie(struct indexed *w, struct turn *turns, size_t count, struct feed *feed,
                             struct err *err)
{
    bool more;

    qsort(turns, count, sizeof(*turns), by_place);
    do {
        if (feed && feed_begin(feed, err) < 0)
            return feed_failed(feed, err);
        if (read_through(w, turns, count, feed, &more, err) < 0)
            return feed ? feed_failed(feed, err) : -1;
        if (feed && feed_end(feed, err) < 0)
            return -1;
    } while (more);
    return 0;
}

static int write_files(struct indexed *w, const struct image *image, struct err *err)
{
    _cleanup_free_ struct turn *turns = calloc(image->layer_count + 1, sizeof(*turns));

    if (!turns)
        return err_nomem(err);
    list_turns(w, image, turns);
    if (image->as_they_lie)
        return write_as_they_lie(w, turns, image->layer_count, image->feed, err);
    for (size_t i = 0; i < image->layer_count; i++)
        if (turns[i].due && take_turn(w, &turns[i], NULL, err) < 0)
            return -1;
    return 0;
}

int merged_indexed(const struct image *image, const struct merged_options *options,
                   struct entry_sink *sink, struct merged_report *report, struct err *err)
{
    *report = (struct merged_report){.layers = (unsigned)image->layer_count};
    _cleanup_index_ struct index *x = index_new(image, options, report, err);
    _cleanup_(indexed_clear) struct indexed w = {.index = x, .sink = sink, .report = report};

    if (!x || delta_make(x, &w.delta, err) < 0 || chain_names(&w, err) < 0 ||
        write_dirs(&w, err) < 0)
        return -1;
    return write_files(&w, image, err);
}
