/* A lineage of versions (layout_model.h): each is laid out like the one before, and checked. */
#ifndef TESTS_LINEAGE_H
#define TESTS_LINEAGE_H

#include "tests/unit/lib/carve/layout_model.h"

#include <math.h>

static inline void lineage_end(struct lineage *l)
{
    cleanup_tree(&l->tree);
    free(l->stack);
    free(l->next);
}

static inline uint64_t lineage_identity(struct lineage *l)
{
    return MODEL_NEUTRAL + ++l->identities;
}

static inline void lineage_owners(struct lineage *l)
{
    static char empty[] = "", state[] = "state";
    static char names[MODEL_OWNERS][4] = {"", "", "o2", "o3", "o4", "o5", "o6", "o7"};

    for (size_t i = 0; i < MODEL_OWNERS; i++)
        l->owner_list[i] = (struct owner){
            .kind = OWNER_DPKG, .tier = (enum owner_tier)(i % TIER_APPLICATION), .name = names[i]};
    l->owner_list[0] = (struct owner){OWNER_UNOWNED, TIER_APPLICATION, empty, NULL};
    l->owner_list[1] = (struct owner){OWNER_UNOWNED, TIER_STATE, state, NULL};
    l->owners = (struct owners){.list = l->owner_list, .count = MODEL_OWNERS};
}

/* Makes the tree's nodes, directory after directory, and an empty image. Returns false without
 * memory. */
static inline bool lineage_begin(struct lineage *l, struct model_source *source)
{
    struct err err = ERR_INIT;

    *l = (struct lineage){.tree = tree_new(&err),
                          .source = source,
                          .stack = calloc(1, sizeof(*l->stack)),
                          .next = calloc(1, sizeof(*l->next))};
    if (!l->tree || !l->stack || !l->next)
        return false;
    for (uint32_t node = 0; tree_count(l->tree) < MODEL_NODES; node++)
        for (char name = 'a'; name < 'a' + MODEL_NAMES; name++)
            if (tree_child(l->tree, node, &name, 1, &err) == TREE_NONE)
                return false;
    lineage_owners(l);
    l->image.paths[0] = (struct model_path){.what = HAS_DIR, .identity = lineage_identity(l)};
    return true;
}

/* ---- changes ---- */

/* A directory's header changes with what is in it, but not always. */
static inline void touch_dir(struct lineage *l, uint32_t node)
{
    uint32_t dir = tree_parent(l->tree, node);

    if (dir != TREE_NONE && model_pick(l->source, 4) > 0)
        l->image.paths[dir].identity = lineage_identity(l);
}

static inline void remove_path(struct lineage *l, uint32_t node)
{
    for (uint32_t below = node; below < MODEL_NODES; below++) {
        uint32_t up = below;
        while (up != TREE_NONE && up != node)
            up = tree_parent(l->tree, up);
        if (up == node)
            l->image.paths[below].what = HAS_NOTHING;
    }
    touch_dir(l, node);
}

static inline void make_dirs(struct lineage *l, uint32_t node)
{
    for (; node != TREE_NONE; node = tree_parent(l->tree, node))
        if (l->image.paths[node].what != HAS_DIR)
            l->image.paths[node] =
                (struct model_path){.what = HAS_DIR, .identity = lineage_identity(l)};
}

static inline void write_inode(struct lineage *l, unsigned inode)
{
    struct model_inode *i = &l->image.inodes[inode];

    i->identity = lineage_identity(l);
    i->bytes = 512 + 512 * (uint64_t)model_pick(l->source, 20);
    if (model_pick(l->source, 8) == 0)
        i->bytes *= 30;
    i->owner = model_pick(l->source, MODEL_OWNERS);
}

/* A file number that no path has; one more path than numbers cannot be. */
static inline unsigned free_inode(const struct lineage *l)
{
    bool used[MODEL_NODES] = {false};
    unsigned inode = 0;

    for (uint32_t node = 1; node < MODEL_NODES; node++)
        if (l->image.paths[node].what == HAS_FILE)
            used[l->image.paths[node].inode] = true;
    while (used[inode])
        inode++;
    return inode;
}

static inline void put_file(struct lineage *l, uint32_t node, unsigned inode)
{
    remove_path(l, node);
    make_dirs(l, tree_parent(l->tree, node));
    l->image.paths[node] = (struct model_path){.what = HAS_FILE, .inode = inode};
    touch_dir(l, node);
}

static inline void change_once(struct lineage *l)
{
    uint32_t node = 1 + model_pick(l->source, MODEL_NODES - 1);
    uint32_t other = 1 + model_pick(l->source, MODEL_NODES - 1);
    struct model_path *path = &l->image.paths[node], *target = &l->image.paths[other];
    unsigned inode;

    switch (model_pick(l->source, 10)) {
    case 0:
        remove_path(l, node);
        return;
    case 1:
        make_dirs(l, node);
        return;
    case 2: /* a hard link */
        inode = target->inode;
        if (target->what == HAS_FILE && node != other && node < other)
            put_file(l, node, inode);
        if (l->image.paths[other].what == HAS_NOTHING && path->what == HAS_FILE)
            write_inode(l, inode); /* the target lay below */
        return;
    case 3:
        path->identity = path->what == HAS_DIR ? lineage_identity(l) : path->identity;
        return;
    case 4: /* content changes under all its names */
        if (path->what == HAS_FILE)
            write_inode(l, path->inode);
        return;
    default:
        inode = free_inode(l);
        put_file(l, node, inode);
        write_inode(l, inode);
    }
}

static inline void lineage_change(struct lineage *l, unsigned changes)
{
    while (changes-- > 0)
        change_once(l);
}

/* ---- layers that nobody carved ---- */

static inline void put_old_entry(struct lineage *l, struct model_layer *layer, uint32_t node)
{
    static const enum layout_kind kinds[] = {LAYOUT_FILE, LAYOUT_FILE, LAYOUT_DIR, LAYOUT_WHITEOUT,
                                             LAYOUT_OPAQUE};
    enum layout_kind kind = kinds[model_pick(l->source, 5)];

    for (uint32_t dir = tree_parent(l->tree, node); dir != TREE_NONE;
         dir = tree_parent(l->tree, dir))
        if (layer->entries[dir].here && layer->entries[dir].kind != LAYOUT_DIR)
            return;
    if (layer->entries[node].here)
        return;
    for (uint32_t dir = tree_parent(l->tree, node); dir != TREE_NONE;
         dir = tree_parent(l->tree, dir))
        if (!layer->entries[dir].here)
            model_put(layer, dir, LAYOUT_DIR, l->image.paths[dir].identity);
    const struct model_path *p = &l->image.paths[node];
    if (kind == LAYOUT_FILE && p->what == HAS_FILE) {
        model_put(layer, node, kind, l->image.inodes[p->inode].identity);
        layer->entries[node].inode = p->inode;
        layer->entries[node].bytes = l->image.inodes[p->inode].bytes;
        return;
    }
    if (kind == LAYOUT_FILE)
        return;
    model_put(layer, node, kind == LAYOUT_OPAQUE ? LAYOUT_DIR : kind, p->identity);
    layer->entries[node].opaque = kind == LAYOUT_OPAQUE;
}

/* Replaces the layers by others, in which little of the image shows. */
static inline void lineage_old_layers(struct lineage *l, size_t count)
{
    memset(l->stack, 0, sizeof(*l->stack));
    l->stack->count = count;
    for (size_t layer = 0; layer < count; layer++) {
        for (unsigned i = model_pick(l->source, 40); i > 0; i--)
            put_old_entry(l, &l->stack->layers[layer], 1 + model_pick(l->source, MODEL_NODES - 1));
        lineage_change(l, model_pick(l->source, 3));
    }
}

/* ---- checks ---- */

#define LINEAGE_CHECK(l, condition)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            snprintf((l)->fault, sizeof((l)->fault), "line %d: %s", __LINE__, #condition);         \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

static inline unsigned links_in(const struct model_layer *layer, unsigned inode)
{
    unsigned links = 0;

    for (uint32_t node = 1; node < MODEL_NODES; node++)
        links += layer->entries[node].here && layer->entries[node].kind == LAYOUT_FILE &&
                 layer->entries[node].inode == inode;
    return links;
}

static inline unsigned links_of(const struct model_image *image, unsigned inode)
{
    unsigned links = 0;

    for (uint32_t node = 1; node < MODEL_NODES; node++)
        links += image->paths[node].what == HAS_FILE && image->paths[node].inode == inode;
    return links;
}

/* The layers show the image: paths, headers, content, and which names are one file. */
static inline bool check_shown(struct lineage *l, const struct model_shown *s)
{
    for (uint32_t node = 0; node < MODEL_NODES; node++) {
        const struct model_path *p = &l->image.paths[node];
        LINEAGE_CHECK(l, s->what[node] == p->what);
        if (p->what == HAS_DIR)
            LINEAGE_CHECK(l, s->identity[node] == p->identity);
        if (p->what != HAS_FILE)
            continue;
        LINEAGE_CHECK(l, s->identity[node] == l->image.inodes[p->inode].identity);
        LINEAGE_CHECK(l, links_in(&l->stack->layers[s->layer[node]], s->inode[node]) ==
                             links_of(&l->image, p->inode));
        for (uint32_t other = 1; other < node; other++)
            if (l->image.paths[other].what == HAS_FILE) {
                bool one = s->layer[other] == s->layer[node] && s->inode[other] == s->inode[node];
                LINEAGE_CHECK(l, one == (l->image.paths[other].inode == p->inode));
            }
    }
    return true;
}

/* Each entry lies in a directory of its layer: none is left to be implied. */
static inline bool check_layers(struct lineage *l)
{
    for (size_t layer = 0; layer < l->stack->count; layer++)
        for (uint32_t node = 1; node < MODEL_NODES; node++) {
            const struct model_entry *e = l->stack->layers[layer].entries;
            uint32_t dir = tree_parent(l->tree, node);
            if (e[node].here)
                LINEAGE_CHECK(l, e[dir].here && e[dir].kind == LAYOUT_DIR);
        }
    return true;
}

/* Bytes of files that do not show as they are; the newest layers have none. */
static inline uint64_t dead_bytes(const struct lineage *l, const struct model_shown *s,
                                  size_t layer)
{
    const struct model_entry *e = l->stack->layers[layer].entries;
    uint64_t dead = 0;

    for (uint32_t node = 1; node < MODEL_NODES; node++) {
        bool first = true, shown = true;
        if (!e[node].here || e[node].kind != LAYOUT_FILE)
            continue;
        for (uint32_t other = 1; other < MODEL_NODES; other++)
            if (e[other].here && e[other].kind == LAYOUT_FILE && e[other].inode == e[node].inode) {
                first = first && other >= node;
                shown = shown && s->what[other] == HAS_FILE && s->layer[other] == layer;
            }
        dead += first && !shown ? e[node].bytes : 0;
    }
    return dead;
}

static inline bool check_limits(struct lineage *l, const struct layout_like *plan,
                                const struct model_input *m, const struct model_shown *s)
{
    uint64_t dead = 0, total = 0, written = 0;

    for (size_t i = 0; i < m->in.file_count; i++)
        total += m->files[i].bytes;
    for (size_t layer = 0; layer < plan->layout.count; layer++) {
        if (layer < plan->kept)
            dead += dead_bytes(l, s, layer);
        else
            written += plan->layout.layers[layer].bytes;
        LINEAGE_CHECK(l, plan->layout.layers[layer].files > 0 || layer + 1 == plan->layout.count);
        LINEAGE_CHECK(l, plan->layout.layers[layer].label);
    }
    size_t most = l->options.layout.layers ? l->options.layout.layers : LAYOUT_LAYERS;
    LINEAGE_CHECK(l, plan->layout.count > 0 && plan->layout.count <= most);
    LINEAGE_CHECK(l, plan->dead == dead);
    LINEAGE_CHECK(l, (double)dead <= l->options.max_dead * (double)(dead + total));
    LINEAGE_CHECK(l, plan->transfer == written && plan->live + written == total);
    return true;
}

static inline bool has_dir(const struct lineage *l, size_t layer, uint32_t node)
{
    const struct model_entry *e = &l->stack->layers[layer].entries[node];

    return e->here && e->kind == LAYOUT_DIR;
}

/* Lookups of all paths, as flatten analyze counts, and directories in several layers. */
static inline bool check_lookups(struct lineage *l, const struct layout_like *plan,
                                 const struct model_shown *s)
{
    uint64_t probes = 0, paths = 0, split = 0;

    for (uint32_t node = 0; node < MODEL_NODES; node++) {
        size_t depth = 0;
        for (size_t layer = 0; layer < l->stack->count; layer++)
            depth += has_dir(l, layer, node);
        split += s->what[node] == HAS_DIR && depth > 1;
        if (node == 0 || s->what[node] == HAS_NOTHING)
            continue;
        size_t last = s->what[node] == HAS_FILE ? s->layer[node] : 0;
        for (size_t layer = last; layer < l->stack->count; layer++)
            probes += has_dir(l, layer, tree_parent(l->tree, node));
        paths++;
    }
    LINEAGE_CHECK(l, plan->layout.split_dirs == split);
    LINEAGE_CHECK(l, fabs(plan->layout.probes * (double)paths - (double)probes) < 0.01 || !paths);
    return true;
}

/* Lays the image out like the layers that are there, writes that, and checks it. */
static inline bool lineage_step(struct lineage *l)
{
    static struct model_input m;
    static struct model_previous p;
    static struct model_shown shown;
    _cleanup_layout_like_ struct layout_like plan = {0};
    struct err err = ERR_INIT;

    model_input(l, &m);
    model_previous(l->stack, &p);
    LINEAGE_CHECK(l, layout_like_make(&m.in, m.identities, &p.previous, &l->options, &plan, &err) ==
                         0);
    model_write(l, &m, &plan);
    if (!check_layers(l))
        return false;
    model_apply(l->tree, l->stack, &shown);
    if (!check_shown(l, &shown))
        return false;
    model_overlay(l->tree, l->stack, &shown);
    return check_shown(l, &shown) && check_limits(l, &plan, &m, &shown) &&
           check_lookups(l, &plan, &shown);
}

/* Returns true if the state layer is within the cap: beyond it, state files get more layers. */
static inline bool has_small_state(const struct lineage *l)
{
    const struct model_layer *state = &l->stack->layers[l->stack->count - 1];
    uint64_t bytes = 0;

    for (uint32_t node = 0; node < MODEL_NODES; node++)
        bytes += state->entries[node].bytes;
    return bytes <= l->options.layout.cap;
}

/* The same image again: all layers stay, and the state layer is the same. */
static inline bool lineage_repeat(struct lineage *l)
{
    static struct model_input m;
    static struct model_previous p;
    _cleanup_layout_like_ struct layout_like plan = {0};
    struct err err = ERR_INIT;
    size_t last = l->stack->count - 1;

    if (l->options.layout.layers == 1 || !has_small_state(l))
        return true;
    model_input(l, &m);
    model_previous(l->stack, &p);
    LINEAGE_CHECK(l, layout_like_make(&m.in, m.identities, &p.previous, &l->options, &plan, &err) ==
                         0);
    LINEAGE_CHECK(l, plan.kept == last && plan.layout.count == last + 1);
    model_write(l, &m, &plan);
    for (uint32_t node = 0; node < MODEL_NODES; node++) {
        const struct model_entry *is = &l->stack->layers[last].entries[node];
        const struct model_entry *was = &l->next->layers[last].entries[node];
        LINEAGE_CHECK(l, is->here == was->here);
        LINEAGE_CHECK(l, !is->here || (is->kind == was->kind && is->identity == was->identity));
    }
    return true;
}

#endif
