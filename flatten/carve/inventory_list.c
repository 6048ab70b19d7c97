#include "flatten/carve/inventory_list.h"

#include "flatten/carve/carve_tree.h"
#include "flatten/carve/carve_write.h"
#include "flatten/carve/order.h"
#include "flatten/merge/tree/array.h"
#include "flatten/stream/ustar.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct listing_entry {
    struct layout_entry entry; /* its inode is an index of this list */
    uint64_t group;
    uint32_t rank;  /* of its path */
    uint32_t place; /* its index before it was sorted */
};

struct listing {
    const struct inventory_source *source;
    struct listing_entry *entries;
    size_t entry_count, entry_cap;
    uint32_t *ranks; /* by node, in the order of paths */
    uint32_t *index; /* by record: that of its entry */
    uint16_t *marks; /* by node: the last layer that has the directory, from 1 */
};

static void listing_clear(struct listing *l)
{
    free(l->entries);
    free(l->ranks);
    free(l->index);
    free(l->marks);
}

static int listing_init(struct listing *l, struct err *err)
{
    const struct spool *s = l->source->spool;
    uint32_t count = tree_count(s->tree);
    _cleanup_free_ uint32_t *order = order_paths(s->tree, err);

    if (!order)
        return -1;
    l->ranks = calloc(count, sizeof(*l->ranks));
    l->index = calloc(s->record_count + 1, sizeof(*l->index));
    l->marks = calloc(count, sizeof(*l->marks));
    if (!l->ranks || !l->index || !l->marks)
        return err_nomem(err);
    for (uint32_t i = 0; i < count; i++)
        l->ranks[order[i]] = i;
    return 0;
}

/* ---- groups ---- */

static struct layout_identity identity_at(const struct listing *l, uint32_t node)
{
    const struct spool *s = l->source->spool;
    const struct spool_record *r = spool_at(s, node);

    return r ? l->source->identities[r - s->records] : (struct layout_identity){{0, 0}};
}

/*
 * Small files of a package change together, and so do those of a directory that nobody owns, and
 * the headers of directories in one directory. Neutral headers, and what is no longer shown, come
 * first.
 */
static uint64_t group_of(const struct listing *l, const struct layout_entry *e)
{
    enum { UNKNOWN, DIRECTORIES, OWNED, UNOWNED };
    const struct owners *o = l->source->owners;
    uint32_t parent = tree_parent(l->source->spool->tree, e->node);
    uint64_t rank = parent == TREE_NONE ? 0 : l->ranks[parent];
    uint32_t owner = e->node < o->node_count ? o->by_node[e->node] : OWNERS_NOBODY;

    if (!e->identity.part[0] && !e->identity.part[1])
        return UNKNOWN;
    if (e->kind == LAYOUT_DIR)
        return (uint64_t)DIRECTORIES << 32 | rank;
    return owner != OWNERS_NOBODY ? (uint64_t)OWNED << 32 | owner : (uint64_t)UNOWNED << 32 | rank;
}

static int add_entry(struct listing *l, const struct layout_entry *e, struct err *err)
{
    size_t place = l->entry_count;
    struct listing_entry *to = ARRAY_PUSH(l, entry, entries, err);

    if (!to)
        return -1;
    *to = (struct listing_entry){
        .entry = *e, .rank = l->ranks[e->node], .place = (uint32_t)place, .group = group_of(l, e)};
    if (e->kind == LAYOUT_FILE && e->inode != place)
        to->group = l->entries[e->inode].group;
    else
        to->entry.inode = (uint32_t)place;
    return 0;
}

/* ---- kept layers ---- */

/* The entries of a layer lie together: `first` is the index of the first, and of its new place. */
static int add_kept_layer(struct listing *l, size_t first, uint16_t layer, struct err *err)
{
    const struct layout_previous *p = l->source->previous;
    size_t base = l->entry_count;

    for (size_t i = first; i < p->entry_count && p->entries[i].layer == p->entries[first].layer;
         i++) {
        struct layout_entry e = p->entries[i];
        struct layout_identity now = identity_at(l, e.node);
        e.layer = layer;
        e.inode = (uint32_t)(e.inode - first + base);
        if (memcmp(&e.identity, &now, sizeof(now)) != 0)
            e.identity = (struct layout_identity){{0, 0}};
        if (add_entry(l, &e, err) < 0)
            return -1;
    }
    return 0;
}

static int add_kept_layers(struct listing *l, struct err *err)
{
    const struct inventory_source *s = l->source;
    size_t at = 0;

    for (size_t i = 0; i < s->kept_count; i++) {
        while (at < s->previous->entry_count && s->previous->entries[at].layer < s->kept[i])
            at++;
        if (at < s->previous->entry_count && s->previous->entries[at].layer == s->kept[i] &&
            add_kept_layer(l, at, (uint16_t)i, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- new layers ---- */

/* Adds the directories above the node. One that a newer layer describes is neutral here. */
static int add_dirs(struct listing *l, uint32_t node, uint16_t layer, struct err *err)
{
    const struct inventory_source *s = l->source;

    for (uint32_t dir = tree_parent(s->spool->tree, node);
         dir != TREE_NONE && l->marks[dir] != layer + 1; dir = tree_parent(s->spool->tree, dir)) {
        struct layout_entry e = {.node = dir, .layer = layer, .kind = LAYOUT_DIR};
        l->marks[dir] = (uint16_t)(layer + 1);
        if (s->described[dir] == layer)
            e.identity = identity_at(l, dir);
        if (spool_at(s->spool, dir) && add_entry(l, &e, err) < 0)
            return -1;
    }
    return 0;
}

static int add_file(struct listing *l, size_t record, uint16_t layer, struct err *err)
{
    const struct spool_record *r = &l->source->spool->records[record];
    const struct layout_entry e = {.identity = identity_at(l, r->node),
                                   .bytes = r->size + ustar_padding(r->size) +
                                            (uint64_t)r->names * USTAR_BLOCK,
                                   .node = r->node,
                                   .inode = (uint32_t)l->entry_count,
                                   .layer = layer,
                                   .kind = LAYOUT_FILE};

    l->index[record] = e.inode;
    return add_entry(l, &e, err) < 0 ? -1 : add_dirs(l, r->node, layer, err);
}

static int add_name(struct listing *l, const struct spool_name *name, uint16_t layer,
                    struct err *err)
{
    const struct layout_entry e = {.identity = identity_at(l, name->node),
                                   .node = name->node,
                                   .inode = l->index[name->record],
                                   .layer = layer,
                                   .kind = LAYOUT_FILE};

    return add_entry(l, &e, err) < 0 ? -1 : add_dirs(l, name->node, layer, err);
}

static bool is_in(const struct inventory_source *s, size_t record, size_t layer)
{
    return !S_ISDIR(s->spool->records[record].mode) &&
           s->by_record[record] + s->kept_count == layer && s->by_record[record] != CARVE_ELSEWHERE;
}

static int add_layer(struct listing *l, size_t layer, struct err *err)
{
    const struct spool *s = l->source->spool;

    for (size_t i = 0; i < s->record_count; i++)
        if (is_in(l->source, i, layer) && add_file(l, i, (uint16_t)layer, err) < 0)
            return -1;
    for (size_t i = 0; i < s->name_count; i++)
        if (is_in(l->source, s->names[i].record, layer) &&
            add_name(l, &s->names[i], (uint16_t)layer, err) < 0)
            return -1;
    return 0;
}

/* ---- all ---- */

static int by_layer_and_group(const void *a, const void *b)
{
    const struct listing_entry *x = a, *y = b;

    if (x->entry.layer != y->entry.layer)
        return x->entry.layer < y->entry.layer ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Gives the bytes of a file to the first of its names. */
static int put_entries(const struct listing *l, struct inventory *out, struct err *err)
{
    _cleanup_free_ uint32_t *first = calloc(l->entry_count + 1, sizeof(*first));
    _cleanup_free_ uint64_t *bytes = calloc(l->entry_count + 1, sizeof(*bytes));

    if (!first || !bytes || !(out->entries = calloc(l->entry_count + 1, sizeof(*out->entries))) ||
        !(out->groups = calloc(l->entry_count + 1, sizeof(*out->groups))))
        return err_nomem(err);
    for (size_t i = 0; i < l->entry_count; i++)
        bytes[l->entries[i].place] = l->entries[i].entry.bytes;
    for (size_t i = 0; i < l->entry_count; i++) {
        struct layout_entry *e = &out->entries[i];
        uint32_t inode = l->entries[i].entry.inode;
        *e = l->entries[i].entry;
        out->groups[i] = l->entries[i].group;
        e->bytes = first[inode] ? 0 : bytes[inode];
        if (!first[inode])
            first[inode] = (uint32_t)i + 1;
        e->inode = first[inode] - 1;
    }
    out->entry_count = out->entry_cap = l->entry_count;
    return 0;
}

int inventory_list(const struct inventory_source *source, struct inventory *out, struct err *err)
{
    _cleanup_(listing_clear) struct listing l = {.source = source};

    *out = (struct inventory){.layer_count = source->layer_count - 1};
    out->diff_ids = calloc(source->layer_count, sizeof(*out->diff_ids));
    if (!out->diff_ids)
        return err_nomem(err);
    for (size_t i = 0; i < out->layer_count; i++)
        out->diff_ids[i] = source->layers[i].diff_id;
    if (listing_init(&l, err) < 0 || add_kept_layers(&l, err) < 0)
        return -1;
    for (size_t layer = source->kept_count; layer < out->layer_count; layer++)
        if (add_layer(&l, layer, err) < 0)
            return -1;
    if (l.entry_count > 0)
        qsort(l.entries, l.entry_count, sizeof(*l.entries), by_layer_and_group);
    return put_entries(&l, out, err);
}

int inventory_text(const struct inventory_source *source, const struct squash_options *options,
                   char **out, struct err *err)
{
    _cleanup_inventory_ struct inventory inventory = {0};
    _cleanup_buf_ struct buf text = BUF_INIT;

    int rc = inventory_list(source, &inventory, err);
    if (rc == 0)
        rc = inventory_write(&inventory, source->spool->tree, &text, err);
    if (rc < 0 && err->kind == ERR_LIMIT) {
        carve_tell(options, "inventory", "too many files for it: --like will fetch the layers");
        *err = (struct err)ERR_INIT;
        return 0;
    }
    return rc == 0 && (*out = buf_take(&text, err)) ? 0 : -1;
}
