#include "flatten/merge/tree/layer_probes.h"

#include "flatten/merge/tree/array.h"

#include <stdlib.h>

/* The node as the newer layers show it. */
enum shown { SHOWN_NOTHING, SHOWN_PATH, SHOWN_GONE };

/* Looks at one layer after the other, newest first. Layers are counted from 1; 0: none. */
struct probing {
    const struct tree *tree;
    unsigned layers;
    size_t *starts;   /* by layer: the index of its first path */
    size_t *ends;     /* and behind its last */
    uint16_t *depth;  /* by directory: layers so far that a lookup of a name in it looks into */
    uint16_t *found;  /* by node: layers that its lookup looks into; 0: it has not ended yet */
    uint16_t *closed; /* by node: the layer that hides what is older there and below */
    uint16_t *lost;   /* by node: the last layer of which nothing shows below it */
    uint8_t *shown;   /* by node: enum shown */
};

static void probing_clear(struct probing *p)
{
    free(p->starts);
    free(p->ends);
    free(p->depth);
    free(p->found);
    free(p->closed);
    free(p->lost);
    free(p->shown);
}

static int probing_init(struct probing *p, struct err *err)
{
    uint32_t nodes = tree_count(p->tree);

    p->starts = calloc(p->layers + 1, sizeof(*p->starts));
    p->ends = calloc(p->layers + 1, sizeof(*p->ends));
    p->depth = calloc(nodes, sizeof(*p->depth));
    p->found = calloc(nodes, sizeof(*p->found));
    p->closed = calloc(nodes, sizeof(*p->closed));
    p->lost = calloc(nodes, sizeof(*p->lost));
    p->shown = calloc(nodes, sizeof(*p->shown));
    if (!p->starts || !p->ends || !p->depth || !p->found || !p->closed || !p->lost || !p->shown)
        return err_nomem(err);
    return 0;
}

void layer_probes_clear(struct layer_probes *p)
{
    free(p->probes);
    *p = (struct layer_probes){0};
}

int layer_probes_add(struct layer_probes *p, uint32_t node, unsigned layer,
                     enum layer_probe_kind kind, struct err *err)
{
    struct layer_probe *to = ARRAY_PUSH(p, probe, probes, err);

    if (!to)
        return -1;
    *to = (struct layer_probe){.node = node, .layer = (uint16_t)layer, .kind = (uint8_t)kind};
    return 0;
}

static void find_layers(struct probing *p, const struct layer_probes *all)
{
    for (size_t i = 0; i < all->probe_count; i++) {
        uint16_t layer = all->probes[i].layer;
        if (p->ends[layer] == 0)
            p->starts[layer] = i;
        p->ends[layer] = i + 1;
    }
}

/* Ends the lookup of the node in this layer: it looked into all so far that have its directory. */
static void end_lookup(struct probing *p, const struct layer_probe *at)
{
    if (!p->found[at->node])
        p->found[at->node] = p->depth[tree_parent(p->tree, at->node)];
    p->closed[at->node] = at->layer;
}

static void look_at(struct probing *p, const struct layer_probe *at)
{
    uint32_t parent = tree_parent(p->tree, at->node);

    if (parent == TREE_NONE)
        return; /* all layers have the root, and its opaque marker does nothing */
    if (p->lost[parent] == at->layer || p->closed[at->node] > at->layer) {
        p->lost[at->node] = at->layer;
        return;
    }
    if (p->shown[at->node] == SHOWN_NOTHING)
        p->shown[at->node] = at->kind == PROBE_WHITEOUT ? SHOWN_GONE : SHOWN_PATH;
    if (at->kind == PROBE_DIR || at->kind == PROBE_OPAQUE_DIR)
        p->depth[at->node]++;
    if (at->kind != PROBE_DIR)
        end_lookup(p, at);
}

/* Nothing ends the search for most directories: it looks into all layers that have the parent. */
static double mean_of(const struct probing *p)
{
    uint32_t nodes = tree_count(p->tree);
    uint64_t paths = 0, sum = 0;

    for (uint32_t node = 1; node < nodes; node++) {
        if (p->shown[node] != SHOWN_PATH)
            continue;
        uint16_t found = p->found[node];
        paths++;
        sum += found ? found : p->depth[tree_parent(p->tree, node)];
    }
    return paths ? (double)sum / (double)paths : 1;
}

int layer_probes_mean(const struct layer_probes *all, const struct tree *tree, unsigned layers,
                      double *mean, struct err *err)
{
    _cleanup_(probing_clear) struct probing p = {.tree = tree, .layers = layers};

    if (probing_init(&p, err) < 0)
        return -1;
    find_layers(&p, all);
    for (unsigned layer = layers; layer > 0; layer--) {
        p.depth[TREE_ROOT]++;
        for (size_t i = p.starts[layer]; i < p.ends[layer]; i++)
            look_at(&p, &all->probes[i]);
    }
    *mean = mean_of(&p);
    return 0;
}
