#include "flatten/carve/layout/like/like_view.h"

#include <stdlib.h>
#include <string.h>

static int check_order(const struct layout_previous *p, struct err *err)
{
    for (size_t i = 0; i < p->entry_count; i++)
        if (p->entries[i].layer >= p->layer_count ||
            (i > 0 && p->entries[i].layer < p->entries[i - 1].layer))
            return err_set(err, ERR_FORMAT, "entries are not in the order of their layers");
    return 0;
}

static int allocate(struct like_view *v, struct err *err)
{
    size_t nodes = tree_count(v->in->tree), layers = v->previous->layer_count;

    v->starts = calloc(layers + 1, sizeof(*v->starts));
    v->links = calloc(v->previous->entry_count + 1, sizeof(*v->links));
    v->file_links = calloc(v->in->file_count + 1, sizeof(*v->file_links));
    v->exists = calloc(nodes, sizeof(*v->exists));
    v->newest = calloc(nodes, sizeof(*v->newest));
    v->layer = calloc(nodes, sizeof(*v->layer));
    v->floor = calloc(nodes, sizeof(*v->floor));
    v->kind = calloc(nodes, sizeof(*v->kind));
    v->by_file = calloc(v->in->file_count + 1, sizeof(*v->by_file));
    v->live = calloc(layers + 1, sizeof(*v->live));
    v->bytes = calloc(layers + 1, sizeof(*v->bytes));
    v->unsound = calloc(layers + 1, sizeof(*v->unsound));
    if (!v->starts || !v->links || !v->file_links || !v->exists || !v->newest || !v->layer ||
        !v->floor || !v->kind || !v->by_file || !v->live || !v->bytes || !v->unsound)
        return err_nomem(err);
    return 0;
}

void like_view_clear(struct like_view *v)
{
    free(v->starts);
    free(v->links);
    free(v->file_links);
    free(v->exists);
    free(v->newest);
    free(v->layer);
    free(v->floor);
    free(v->kind);
    free(v->by_file);
    free(v->live);
    free(v->bytes);
    free(v->unsound);
    *v = (struct like_view){0};
}

/* True if the entry names a file of its layer. */
static bool is_inode(const struct layout_previous *p, size_t i)
{
    const struct layout_entry *e = &p->entries[i];

    return e->inode <= i && p->entries[e->inode].layer == e->layer &&
           p->entries[e->inode].kind == LAYOUT_FILE && p->entries[e->inode].inode == e->inode;
}

static void count_entries(struct like_view *v)
{
    const struct layout_previous *p = v->previous;

    for (size_t i = 0; i < p->entry_count; i++) {
        const struct layout_entry *e = &p->entries[i];
        v->starts[e->layer + 1]++;
        if (e->kind != LAYOUT_FILE)
            continue;
        if (is_inode(p, i))
            v->links[e->inode]++;
        else
            v->unsound[e->layer] = true;
        v->bytes[e->layer] += e->bytes;
    }
    for (size_t i = 0; i < p->layer_count; i++)
        v->starts[i + 1] += v->starts[i];
}

static void count_files(struct like_view *v)
{
    const struct layout_input *in = v->in;

    for (uint32_t node = 0; node < tree_count(in->tree); node++)
        v->exists[node] = in->is_dir[node];
    for (size_t i = 0; i < in->file_count; i++) {
        v->exists[in->files[i].node] = 1;
        v->file_links[i]++;
    }
    for (size_t i = 0; i < in->name_count; i++) {
        v->exists[in->names[i].node] = 1;
        v->file_links[in->names[i].file]++;
    }
}

int like_view_init(const struct layout_input *in, const struct layout_identity *identities,
                   const struct layout_previous *previous, struct like_view *out, struct err *err)
{
    *out = (struct like_view){.in = in, .identities = identities, .previous = previous};
    if (check_order(previous, err) < 0 || allocate(out, err) < 0)
        return -1;
    count_entries(out);
    count_files(out);
    return 0;
}

/* ---- one layer over the other ---- */

/* Sets what the layer has at the node; `layer` is counted from 1. */
static void set_node(struct like_view *v, uint32_t node, uint16_t layer, enum layout_kind kind,
                     uint32_t entry)
{
    v->layer[node] = layer;
    v->kind[node] = (uint8_t)kind;
    v->newest[node] = entry;
}

/*
 * A layer has all directories above what it has. Where an older layer has a file or a link, engines
 * that apply layers to one tree follow the link, unless the directory has an entry of its own.
 */
static void imply_dirs(struct like_view *v, uint32_t node, uint16_t layer)
{
    const struct tree *tree = v->in->tree;

    for (uint32_t dir = tree_parent(tree, node); dir != TREE_NONE; dir = tree_parent(tree, dir)) {
        if (v->layer[dir] == layer) {
            if (v->kind[dir] != LAYOUT_DIR)
                v->unsound[layer - 1] = true;
            return;
        }
        if (v->layer[dir] != 0 && v->kind[dir] == LAYOUT_FILE)
            v->unsound[layer - 1] = true;
        set_node(v, dir, layer, LAYOUT_DIR, LIKE_IMPLIED);
    }
}

static void raise_floor(struct like_view *v, uint32_t node, unsigned floor)
{
    if (v->floor[node] < floor)
        v->floor[node] = (uint16_t)floor;
}

/* False if the new version has no header of the root: no layer can take back an older one. */
static bool describes_root(const struct like_view *v)
{
    const struct layout_identity *root = &v->identities[TREE_ROOT];

    return root->part[0] || root->part[1];
}

static void add_dir(struct like_view *v, uint32_t entry, uint16_t layer)
{
    const struct layout_entry *e = &v->previous->entries[entry];
    bool again = v->layer[e->node] == layer, opaque = e->kind == LAYOUT_OPAQUE;

    if (again && v->kind[e->node] != LAYOUT_DIR)
        v->unsound[layer - 1] = true;
    if (e->node == TREE_ROOT && (opaque || (v->identities && !describes_root(v))))
        v->unsound[layer - 1] = true;
    if (again && !opaque && v->newest[e->node] != LIKE_IMPLIED)
        v->unsound[layer - 1] = true;
    if (opaque)
        raise_floor(v, e->node, layer);
    if (!opaque || !again)
        set_node(v, e->node, layer, LAYOUT_DIR, opaque ? LIKE_IMPLIED : entry);
}

static void add_entry(struct like_view *v, uint32_t entry)
{
    const struct layout_entry *e = &v->previous->entries[entry];
    uint16_t layer = (uint16_t)(e->layer + 1);

    imply_dirs(v, e->node, layer);
    if (e->kind == LAYOUT_DIR || e->kind == LAYOUT_OPAQUE) {
        add_dir(v, entry, layer);
        return;
    }
    if (v->layer[e->node] == layer || e->node == TREE_ROOT)
        v->unsound[e->layer] = true;
    raise_floor(v, e->node, layer + 1u);
    set_node(v, e->node, layer, (enum layout_kind)e->kind, entry);
}

/* True if the layers show something at the node, whose kind is kind[node]. */
static bool shows(const struct like_view *v, uint32_t node)
{
    if (v->layer[node] == 0 || v->kind[node] == LAYOUT_WHITEOUT)
        return false;
    return node == TREE_ROOT || v->layer[node] >= v->floor[tree_parent(v->in->tree, node)];
}

/* ---- files of the new version ---- */

static bool same_identity(const struct layout_identity *a, const struct layout_identity *b)
{
    return (a->part[0] || a->part[1]) && a->part[0] == b->part[0] && a->part[1] == b->part[1];
}

/* Returns the entry of the file that shows at the node, or NULL. */
static const struct layout_entry *shown_file(const struct like_view *v, uint32_t node)
{
    if (!shows(v, node) || v->kind[node] != LAYOUT_FILE)
        return NULL;
    return &v->previous->entries[v->newest[node]];
}

/* The layer must have all names of the file, and no other: it counts links on its own. */
static void find_file(struct like_view *v, size_t file)
{
    uint32_t node = v->in->files[file].node;
    const struct layout_entry *e = shown_file(v, node);

    v->by_file[file] = LIKE_NEW;
    if (e && same_identity(&e->identity, &v->identities[node]) &&
        v->links[e->inode] == v->file_links[file])
        v->by_file[file] = e->layer;
}

static void check_name(struct like_view *v, const struct layout_name *name)
{
    const struct layout_entry *e = shown_file(v, name->node);

    if (v->by_file[name->file] == LIKE_NEW)
        return;
    const struct layout_entry *first = shown_file(v, v->in->files[name->file].node);
    if (!e || e->inode != first->inode || !same_identity(&e->identity, &first->identity))
        v->by_file[name->file] = LIKE_NEW;
}

static void find_files(struct like_view *v)
{
    const struct layout_input *in = v->in;

    for (size_t i = 0; i < in->file_count; i++)
        find_file(v, i);
    for (size_t i = 0; i < in->name_count; i++)
        check_name(v, &in->names[i]);
    memset(v->live, 0, v->previous->layer_count * sizeof(*v->live));
    for (size_t i = 0; i < in->file_count; i++)
        if (v->by_file[i] != LIKE_NEW) {
            const struct layout_entry *e = shown_file(v, in->files[i].node);
            v->live[v->by_file[i]] += v->previous->entries[e->inode].bytes;
        }
}

void like_view_make(struct like_view *v, const bool *kept)
{
    const struct layout_previous *p = v->previous;
    uint32_t nodes = tree_count(v->in->tree);

    memset(v->layer, 0, nodes * sizeof(*v->layer));
    memset(v->floor, 0, nodes * sizeof(*v->floor));
    for (size_t layer = 0; layer < p->layer_count; layer++)
        for (size_t i = v->starts[layer]; kept[layer] && i < v->starts[layer + 1]; i++)
            add_entry(v, (uint32_t)i);
    /* Directories come before what is in them: a floor holds for all below. */
    for (uint32_t node = 1; node < nodes; node++)
        raise_floor(v, node, v->floor[tree_parent(v->in->tree, node)]);
    find_files(v);
}

bool like_view_has_header(const struct like_view *v, uint32_t dir)
{
    if (!shows(v, dir) || v->kind[dir] != LAYOUT_DIR || v->newest[dir] == LIKE_IMPLIED)
        return false;
    return same_identity(&v->previous->entries[v->newest[dir]].identity, &v->identities[dir]);
}

bool like_view_needs_whiteout(const struct like_view *v, uint32_t node)
{
    return node != TREE_ROOT && !v->exists[node] && v->in->is_dir[tree_parent(v->in->tree, node)] &&
           shows(v, node);
}

uint32_t *layout_previous_shown(struct tree *tree, const struct layout_previous *previous,
                                struct err *err)
{
    uint32_t nodes = tree_count(tree);
    _cleanup_like_view_ struct like_view v = {0};
    _cleanup_free_ uint8_t *no_dirs = calloc(nodes, sizeof(*no_dirs));
    _cleanup_free_ bool *all = malloc(previous->layer_count + 1);
    _cleanup_free_ uint32_t *shown = calloc(nodes, sizeof(*shown));
    const struct layout_input nothing = {.tree = tree, .is_dir = no_dirs};

    if (!no_dirs || !all || !shown) {
        err_nomem(err);
        return NULL;
    }
    memset(all, true, previous->layer_count + 1);
    if (like_view_init(&nothing, NULL, previous, &v, err) < 0)
        return NULL;
    like_view_make(&v, all);
    for (uint32_t node = 0; node < nodes; node++)
        shown[node] = shows(&v, node) ? v.newest[node] : LAYOUT_NO_ENTRY;
    return steal_ptr(&shown);
}
