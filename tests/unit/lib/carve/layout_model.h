/*
 * A model of images and their versions, for the tests and the fuzz target of flatten/carve/layout:
 * a small tree of paths that changes from version to version, layers written as a plan says, and
 * both ways in which engines read layers, written down as plainly as possible.
 */
#ifndef TESTS_LAYOUT_MODEL_H
#define TESTS_LAYOUT_MODEL_H

#include "flatten/carve/layout/like/layout_like.h"
#include "tests/unit/lib/carve/layout_state.h"

#include <stdio.h>
#include <string.h>

enum {
    MODEL_NAMES = 4,
    MODEL_NODES = 1 + 4 + 16 + 64, /* three levels */
    MODEL_LAYERS = 140,
    MODEL_OWNERS = 8,
    MODEL_NEUTRAL = 1, /* the identity of a neutral header */
};

/* ---- choices ---- */

/* Where choices come from: the bytes of a fuzzer, or a seed once there are none. */
struct model_source {
    const uint8_t *data;
    size_t size;
    uint64_t seed; /* 0: every further choice is 0 */
};

static inline unsigned model_pick(struct model_source *s, unsigned below)
{
    if (s->size > 0) {
        s->size--;
        return *s->data++ % below;
    }
    if (s->seed == 0)
        return 0;
    s->seed ^= s->seed << 13;
    s->seed ^= s->seed >> 7;
    s->seed ^= s->seed << 17;
    return (unsigned)((s->seed >> 20) % below);
}

/* ---- an image ---- */

enum model_what { HAS_NOTHING, HAS_FILE, HAS_DIR };

struct model_path {
    enum model_what what;
    uint64_t identity; /* of a directory */
    unsigned inode;    /* of a file */
};

struct model_inode {
    uint64_t identity, bytes;
    uint32_t owner;
};

struct model_image {
    struct model_path paths[MODEL_NODES];
    struct model_inode inodes[MODEL_NODES]; /* by number, and reused */
};

/* ---- layers ---- */

struct model_entry {
    enum layout_kind kind;
    bool here, opaque;
    uint64_t identity, bytes;
    unsigned inode;
};

struct model_layer {
    struct model_entry entries[MODEL_NODES];
    bool state;
};

struct model_stack {
    struct model_layer layers[MODEL_LAYERS]; /* oldest first */
    size_t count;
};

struct lineage {
    struct tree *tree;
    struct owner owner_list[MODEL_OWNERS];
    struct owners owners;
    struct model_source *source;
    struct model_image image;
    struct model_stack *stack, *next;
    uint64_t identities; /* given so far */
    struct layout_like_options options;
    char fault[200]; /* what does not hold */
};

/* ---- the plan's input ---- */

struct model_input {
    struct layout_input in;
    struct layout_file files[MODEL_NODES];
    struct layout_name names[MODEL_NODES];
    uint32_t file_of[MODEL_NODES]; /* by inode */
    uint8_t is_dir[MODEL_NODES];
    struct layout_identity identities[MODEL_NODES];
};

static inline void model_input(const struct lineage *l, struct model_input *m)
{
    memset(m, 0, sizeof(*m));
    memset(m->file_of, 0xff, sizeof(m->file_of));
    m->is_dir[0] = 1;
    m->identities[0].part[0] = l->image.paths[0].identity;
    for (uint32_t node = 1; node < MODEL_NODES; node++) {
        const struct model_path *p = &l->image.paths[node];
        const struct model_inode *i = &l->image.inodes[p->inode];
        m->is_dir[node] = p->what == HAS_DIR;
        m->identities[node].part[0] = p->what == HAS_DIR ? p->identity : i->identity;
        if (p->what != HAS_FILE)
            continue;
        if (m->file_of[p->inode] != UINT32_MAX) {
            m->names[m->in.name_count++] = (struct layout_name){node, m->file_of[p->inode]};
            continue;
        }
        m->file_of[p->inode] = (uint32_t)m->in.file_count;
        m->files[m->in.file_count++] =
            (struct layout_file){.node = node, .owner = i->owner, .bytes = i->bytes};
    }
    m->in.tree = l->tree;
    m->in.files = m->files;
    m->in.names = m->names;
    m->in.is_dir = m->is_dir;
    m->in.owners = &l->owners;
}

struct model_previous {
    struct layout_previous previous;
    struct layout_previous_layer layers[MODEL_LAYERS];
    struct layout_entry entries[MODEL_LAYERS * MODEL_NODES];
};

static inline void model_previous_layer(const struct model_layer *layer, uint16_t number,
                                        struct model_previous *p)
{
    uint32_t first[MODEL_NODES];

    memset(first, 0xff, sizeof(first));
    for (uint32_t node = 0; node < MODEL_NODES; node++) {
        const struct model_entry *e = &layer->entries[node];
        uint32_t at = (uint32_t)p->previous.entry_count;
        if (!e->here)
            continue;
        if (e->opaque)
            p->entries[at++] =
                (struct layout_entry){.node = node, .layer = number, .kind = LAYOUT_OPAQUE};
        if (e->kind == LAYOUT_FILE && first[e->inode] == UINT32_MAX)
            first[e->inode] = at;
        p->entries[at] = (struct layout_entry){.identity.part = {e->identity, 0},
                                               .node = node,
                                               .layer = number,
                                               .kind = (uint8_t)e->kind};
        if (e->kind == LAYOUT_FILE) {
            p->entries[at].inode = first[e->inode];
            p->entries[at].bytes = first[e->inode] == at ? e->bytes : 0;
        }
        p->previous.entry_count = at + 1;
    }
}

static inline void model_previous(const struct model_stack *s, struct model_previous *p)
{
    p->previous = (struct layout_previous){
        .layers = p->layers, .layer_count = s->count, .entries = p->entries};
    for (size_t i = 0; i < s->count; i++) {
        p->layers[i] = (struct layout_previous_layer){.state = s->layers[i].state};
        model_previous_layer(&s->layers[i], (uint16_t)i, p);
    }
}

/* ---- writing layers as a plan says ---- */

static inline void model_put(struct model_layer *layer, uint32_t node, enum layout_kind kind,
                             uint64_t identity)
{
    layer->entries[node] = (struct model_entry){.kind = kind, .here = true, .identity = identity};
}

/* Finds the newest layer that has something below each directory, or describes it. */
static inline void model_newest(const struct lineage *l, const struct model_input *m,
                                const struct layout_like *plan, size_t newest[MODEL_NODES])
{
    for (uint32_t node = 0; node < MODEL_NODES; node++)
        newest[node] = in_state(&plan->layout, node) ? plan->layout.count - 1 : 0;
    for (uint32_t node = 1; node < MODEL_NODES; node++) {
        const struct model_path *p = &l->image.paths[node];
        if (p->what != HAS_FILE)
            continue;
        size_t layer = plan->layout.by_file[m->file_of[p->inode]];
        for (uint32_t dir = tree_parent(l->tree, node); dir != TREE_NONE;
             dir = tree_parent(l->tree, dir))
            newest[dir] = layer > newest[dir] ? layer : newest[dir];
    }
}

/* A directory's header is the true one in the newest layer that has it. */
static inline void model_put_dirs(const struct lineage *l, const size_t newest[MODEL_NODES],
                                  size_t number, struct model_layer *layer, uint32_t node)
{
    for (uint32_t dir = tree_parent(l->tree, node); dir != TREE_NONE;
         dir = tree_parent(l->tree, dir)) {
        bool own = number == newest[dir];
        if (!layer->entries[dir].here)
            model_put(layer, dir, LAYOUT_DIR, own ? l->image.paths[dir].identity : MODEL_NEUTRAL);
    }
}

static inline void model_write_layer(const struct lineage *l, const struct model_input *m,
                                     const struct layout_like *plan,
                                     const size_t newest[MODEL_NODES], size_t number,
                                     struct model_layer *layer)
{
    memset(layer, 0, sizeof(*layer));
    layer->state = number + 1 == plan->layout.count;
    for (uint32_t node = 1; node < MODEL_NODES; node++) {
        const struct model_path *p = &l->image.paths[node];
        if (p->what != HAS_FILE || plan->layout.by_file[m->file_of[p->inode]] != number)
            continue;
        model_put(layer, node, LAYOUT_FILE, l->image.inodes[p->inode].identity);
        layer->entries[node].inode = p->inode;
        layer->entries[node].bytes = l->image.inodes[p->inode].bytes;
        model_put_dirs(l, newest, number, layer, node);
    }
    if (!layer->state)
        return;
    for (uint32_t dir = 0; dir < MODEL_NODES; dir++)
        if (in_state(&plan->layout, dir))
            model_put(layer, dir, LAYOUT_DIR, l->image.paths[dir].identity);
    for (size_t i = 0; i < plan->whiteout_count; i++)
        model_put(layer, plan->whiteouts[i], LAYOUT_WHITEOUT, 0);
}

static inline void model_write(struct lineage *l, const struct model_input *m,
                               const struct layout_like *plan)
{
    size_t newest[MODEL_NODES];

    model_newest(l, m, plan, newest);
    l->next->count = plan->layout.count;
    for (size_t i = 0; i < plan->layout.count; i++) {
        if (i < plan->kept)
            l->next->layers[i] = l->stack->layers[plan->previous[i]];
        else
            model_write_layer(l, m, plan, newest, i, &l->next->layers[i]);
    }
    struct model_stack *old = l->stack;
    l->stack = l->next;
    l->next = old;
}

/* ---- reading layers ---- */

struct model_shown {
    enum model_what what[MODEL_NODES];
    uint64_t identity[MODEL_NODES];
    size_t layer[MODEL_NODES];
    unsigned inode[MODEL_NODES];
};

static inline void model_show(struct model_shown *s, uint32_t node, size_t layer,
                              const struct model_entry *e)
{
    s->what[node] = e->kind == LAYOUT_DIR ? HAS_DIR : HAS_FILE;
    s->identity[node] = e->identity;
    s->layer[node] = layer;
    s->inode[node] = e->inode;
}

/* As overlayfs: a name is looked up in the layers that make up its directory, newest first. */
static inline void model_overlay(const struct tree *tree, const struct model_stack *s,
                                 struct model_shown *out)
{
    static bool merged[MODEL_NODES][MODEL_LAYERS]; /* layers that make up a directory */

    memset(out, 0, sizeof(*out));
    memset(merged, 0, sizeof(merged));
    for (uint32_t node = 0; node < MODEL_NODES; node++)
        for (size_t layer = s->count; layer-- > 0;) {
            const struct model_entry *e = &s->layers[layer].entries[node];
            if (!e->here || (node != 0 && !merged[tree_parent(tree, node)][layer]))
                continue;
            if (e->kind == LAYOUT_WHITEOUT || (e->kind == LAYOUT_FILE && out->what[node]))
                break;
            if (!out->what[node])
                model_show(out, node, layer, e);
            if (e->kind == LAYOUT_FILE)
                break;
            merged[node][layer] = true;
            if (e->opaque)
                break;
        }
}

static inline void model_remove(const struct tree *tree, struct model_shown *s, uint32_t node,
                                bool itself)
{
    if (itself)
        s->what[node] = HAS_NOTHING;
    for (uint32_t below = node + 1; below < MODEL_NODES; below++)
        for (uint32_t up = tree_parent(tree, below); up != TREE_NONE; up = tree_parent(tree, up))
            if (up == node)
                s->what[below] = HAS_NOTHING;
}

/* As the image specification: layers are changes of one tree, applied oldest first. */
static inline void model_apply(const struct tree *tree, const struct model_stack *s,
                               struct model_shown *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t layer = 0; layer < s->count; layer++) {
        for (uint32_t node = 0; node < MODEL_NODES; node++) {
            const struct model_entry *e = &s->layers[layer].entries[node];
            if (e->here && (e->kind == LAYOUT_WHITEOUT || e->opaque))
                model_remove(tree, out, node, !e->opaque);
        }
        for (uint32_t node = 0; node < MODEL_NODES; node++) {
            const struct model_entry *e = &s->layers[layer].entries[node];
            if (!e->here || e->kind == LAYOUT_WHITEOUT)
                continue;
            if (e->kind == LAYOUT_FILE && out->what[node] == HAS_DIR)
                model_remove(tree, out, node, true);
            model_show(out, node, layer, e);
        }
    }
}

#endif
