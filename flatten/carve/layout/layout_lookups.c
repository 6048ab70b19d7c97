#include "flatten/carve/layout/layout_lookups.h"

#include <string.h>

/* Lists `count` items by layer; layer_of gives the layer of one. */
static int list_by_layer(struct layout_lookups *l, size_t count, bool links, uint32_t **list,
                         size_t **starts, struct err *err)
{
    *list = calloc(count + 1, sizeof(**list));
    *starts = calloc(l->layers + 2, sizeof(**starts));
    if (!*list || !*starts)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        (*starts)[l->by_file[links ? l->in->names[i].file : i] + 1]++;
    for (size_t i = 0; i < l->layers; i++)
        (*starts)[i + 1] += (*starts)[i];
    for (size_t i = count; i-- > 0;)
        (*list)[--(*starts)[l->by_file[links ? l->in->names[i].file : i] + 1]] = (uint32_t)i;
    memmove(*starts, *starts + 1, l->layers * sizeof(**starts));
    (*starts)[l->layers] = count;
    return 0;
}

static int init(struct layout_lookups *l, struct err *err)
{
    size_t nodes = tree_count(l->in->tree);

    l->mark = calloc(nodes, sizeof(*l->mark));
    l->depth = calloc(nodes, sizeof(*l->depth));
    l->described = calloc(nodes, sizeof(*l->described));
    if (!l->mark || !l->depth || !l->described)
        return err_nomem(err);
    if (list_by_layer(l, l->in->file_count, false, &l->files, &l->starts, err) < 0)
        return -1;
    return list_by_layer(l, l->in->name_count, true, &l->links.list, &l->links.starts, err);
}

void layout_lookups_clear(struct layout_lookups *l)
{
    free(l->files);
    free(l->starts);
    free(l->links.list);
    free(l->links.starts);
    free(l->mark);
    free(l->depth);
    free(l->described);
    *l = (struct layout_lookups){0};
}

void layout_lookups_mark(struct layout_lookups *l, uint32_t node, size_t layer)
{
    uint32_t dir = tree_parent(l->in->tree, node);

    for (; dir != TREE_NONE && l->mark[dir] != layer + 1; dir = tree_parent(l->in->tree, dir)) {
        l->mark[dir] = (uint16_t)(layer + 1);
        l->depth[dir]++;
    }
}

void layout_lookups_mark_dir(struct layout_lookups *l, uint32_t dir, size_t layer)
{
    if (l->mark[dir] == layer + 1)
        return;
    l->mark[dir] = (uint16_t)(layer + 1);
    l->depth[dir]++;
    layout_lookups_mark(l, dir, layer);
}

static uint32_t file_node(const struct layout_lookups *l, size_t i)
{
    return l->in->files[l->files[i]].node;
}

static uint32_t link_node(const struct layout_lookups *l, size_t i)
{
    return l->in->names[l->links.list[i]].node;
}

static void mark_layer(struct layout_lookups *l, size_t layer)
{
    for (size_t i = l->starts[layer]; i < l->starts[layer + 1]; i++)
        layout_lookups_mark(l, file_node(l, i), layer);
    for (size_t i = l->links.starts[layer]; i < l->links.starts[layer + 1]; i++)
        layout_lookups_mark(l, link_node(l, i), layer);
    if (l->more)
        l->more(l->ctx, l, layer);
}

/*
 * Returns true if the state layer must describe the directory. Beside kept layers, the newest new
 * layer does, if one has it. Otherwise those that are to stay the same do not if there are several:
 * a header changes with what is in other layers.
 */
static bool needs_state(const struct layout_lookups *l, uint32_t dir)
{
    if (l->depth[dir] == 0 || dir == TREE_ROOT)
        return true;
    if (l->kept == 0)
        return l->depth[dir] != 1 && l->mark[dir] <= l->describing;
    return l->mark[dir] <= l->kept && !l->has_header(l->ctx, dir);
}

/* Returns the layer that describes the node: the newest that has it, unless that one is kept. */
static uint16_t describing_layer(const struct layout_lookups *l, uint32_t node)
{
    return l->in->is_dir[node] && l->mark[node] > l->kept ? (uint16_t)(l->mark[node] - 1)
                                                          : LAYOUT_NOT_DESCRIBED;
}

static void mark_state(struct layout_lookups *l)
{
    size_t state = l->layers - 1, nodes = tree_count(l->in->tree);

    for (uint32_t node = 0; node < nodes; node++)
        if (l->in->is_dir[node] && needs_state(l, node))
            layout_lookups_mark_dir(l, node, state);
    for (uint32_t node = 0; node < nodes; node++)
        l->described[node] = describing_layer(l, node);
}

/* Returns the probes for the layer's files: all layers with the directory, without the older. */
static uint64_t probe_layer(const struct layout_lookups *l, const uint16_t *older, size_t layer)
{
    const struct tree *tree = l->in->tree;
    uint64_t probes = 0;
    uint32_t dir;

    for (size_t i = l->starts[layer]; i < l->starts[layer + 1]; i++) {
        dir = tree_parent(tree, file_node(l, i));
        probes += (uint64_t)l->depth[dir] - older[dir];
    }
    for (size_t i = l->links.starts[layer]; i < l->links.starts[layer + 1]; i++) {
        dir = tree_parent(tree, link_node(l, i));
        probes += (uint64_t)l->depth[dir] - older[dir];
    }
    return probes;
}

static int probe_files(struct layout_lookups *l, uint64_t *probes, struct err *err)
{
    size_t nodes = tree_count(l->in->tree);
    _cleanup_free_ uint16_t *older = calloc(nodes, sizeof(*older));
    uint16_t *depth = l->depth;

    if (!older)
        return err_nomem(err);
    memset(l->mark, 0, nodes * sizeof(*l->mark));
    for (size_t layer = 0; layer < l->layers; layer++) {
        *probes += probe_layer(l, older, layer);
        l->depth = older; /* marks are counted here */
        mark_layer(l, layer);
        l->depth = depth;
    }
    return 0;
}

int layout_lookups_count(struct layout_lookups *l, struct err *err)
{
    uint64_t probes = 0, paths = l->in->file_count + l->in->name_count;

    if (init(l, err) < 0)
        return -1;
    for (size_t layer = 0; layer < l->layers; layer++)
        mark_layer(l, layer);
    mark_state(l);
    for (uint32_t node = 0; node < tree_count(l->in->tree); node++) {
        l->split_dirs += l->in->is_dir[node] && l->depth[node] > 1;
        if (node == TREE_ROOT || !l->in->is_dir[node])
            continue;
        /* Nothing ends the search for a directory. */
        probes += l->depth[tree_parent(l->in->tree, node)];
        paths++;
    }
    if (probe_files(l, &probes, err) < 0)
        return -1;
    l->probes = paths ? (double)probes / (double)paths : 1;
    return 0;
}
