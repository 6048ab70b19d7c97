#include "flatten/carve/layout/like/layout_like.h"

#include "flatten/carve/layout/layout_groups.h"
#include "flatten/carve/layout/layout_lookups.h"
#include "flatten/carve/layout/layout_order.h"
#include "flatten/carve/layout/layout_steps.h"
#include "flatten/carve/layout/like/like_choose.h"

#include <string.h>

enum { COLD = 1, HOT = 2 };

/* More probes than those of a layout on its own that are always allowed. */
#define SLOWER 1.1

void layout_like_clear(struct layout_like *l)
{
    layout_clear(&l->layout);
    free(l->previous);
    free(l->fates);
    free(l->whiteouts);
    *l = (struct layout_like){0};
}

struct planning {
    const struct layout_input *in;
    const struct layout_like_options *options;
    struct layout_wishes wishes;
    struct layout_order order;
    struct like_choice choice;
    double max_probes; /* once a layout without --like has been made; else 0 */
    uint64_t *extra;   /* by kept layer: probes that its directories add to lookups */
};

static void planning_clear(struct planning *p)
{
    layout_order_clear(&p->order);
    like_choice_clear(&p->choice);
    free(p->extra);
}

/* ---- kept layers ---- */

static int add_kept(const struct planning *p, size_t previous, struct layout_like *out,
                    struct err *err)
{
    const struct layout_previous_layer *from = &p->choice.view.previous->layers[previous];
    struct layout_layer *layer = &out->layout.layers[out->layout.count];

    layer->label = strdup(from->label ? from->label : "");
    if (!layer->label)
        return err_nomem(err);
    layer->tier = from->tier;
    layer->bytes = p->choice.view.bytes[previous];
    out->previous[out->kept++] = (uint16_t)previous;
    out->layout.count++;
    return 0;
}

static int keep_layers(const struct planning *p, struct layout_like *out, struct err *err)
{
    size_t layers = p->choice.view.previous->layer_count;
    _cleanup_free_ uint16_t *place = calloc(layers + 1, sizeof(*place));

    out->layout.layers = calloc(layers + 1, sizeof(*out->layout.layers));
    out->layout.by_file = calloc(p->in->file_count + 1, sizeof(*out->layout.by_file));
    out->previous = calloc(layers + 1, sizeof(*out->previous));
    if (!place || !out->layout.layers || !out->layout.by_file || !out->previous)
        return err_nomem(err);
    for (size_t i = 0; i < layers; i++) {
        place[i] = (uint16_t)out->kept;
        if (p->choice.kept[i] && add_kept(p, i, out, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < p->in->file_count; i++) {
        uint16_t layer = p->choice.view.by_file[i];
        if (layer == LIKE_NEW)
            continue;
        out->layout.by_file[i] = place[layer];
        out->layout.layers[place[layer]].files++;
    }
    return 0;
}

/* ---- new layers ---- */

/* Rewritten files have shown that they stay: they go below new ones, if they make a layer. */
static uint8_t *choose_files(const struct planning *p, bool apart, struct err *err)
{
    uint8_t *chosen = calloc(p->in->file_count + 1, sizeof(*chosen));

    if (!chosen) {
        err_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < p->in->file_count; i++)
        if (p->choice.view.by_file[i] == LIKE_NEW)
            chosen[i] = apart && p->choice.old[i] && !like_is_state(p->in, i) ? COLD : HOT;
    return chosen;
}

static int place_some(const struct planning *p, const uint8_t *chosen, uint8_t which,
                      uint64_t bytes, size_t layers, struct layout_like *out, struct err *err)
{
    _cleanup_layout_groups_ struct layout_groups g = {0};
    struct layout_wishes wishes = p->wishes;

    wishes.layers = layers;
    wishes.state = which == HOT;
    wishes.together = out->kept > 0 && bytes <= wishes.cap;
    if (layout_groups_init(p->in, &p->order, chosen, which, &g, err) < 0)
        return -1;
    return layout_append(&g, &wishes, out->kept > 0 && which == HOT, &out->layout, err);
}

static int place_new(const struct planning *p, struct layout_like *out, struct err *err)
{
    uint64_t cold = p->choice.cold, hot = p->choice.hot;
    size_t room = p->wishes.layers - out->kept, most_cold = room > 2 ? room - 2 : 0;
    bool apart = out->kept > 0 && most_cold > 0 && cold > p->wishes.cap / 8 && hot > 0;
    _cleanup_free_ uint8_t *chosen = choose_files(p, apart, err);

    if (!chosen)
        return -1;
    if (apart && hot > p->wishes.cap / 2 && most_cold > 1)
        most_cold = (size_t)((double)most_cold * (double)cold / (double)(cold + hot)) + 1;
    if (apart && place_some(p, chosen, COLD, cold, most_cold, out, err) < 0)
        return -1;
    return place_some(p, chosen, HOT, apart ? hot : hot + cold,
                      p->wishes.layers - out->layout.count, out, err);
}

/* ---- lookups ---- */

struct marking {
    const struct planning *p;
    const struct layout_like *out;
};

/* A kept layer has its directories still, whatever shows of them. */
static void mark_kept(const struct marking *m, struct layout_lookups *l, size_t layer)
{
    const struct like_view *v = &m->p->choice.view;
    size_t previous = m->out->previous[layer];

    for (size_t i = v->starts[previous]; i < v->starts[previous + 1]; i++) {
        const struct layout_entry *e = &v->previous->entries[i];
        if (e->kind == LAYOUT_DIR || e->kind == LAYOUT_OPAQUE)
            layout_lookups_mark_dir(l, e->node, layer);
        else
            layout_lookups_mark(l, e->node, layer);
    }
}

static void mark_more(void *ctx, struct layout_lookups *l, size_t layer)
{
    const struct marking *m = ctx;

    if (layer < m->out->kept)
        mark_kept(m, l, layer);
    for (size_t i = 0; layer + 1 == l->layers && i < m->out->whiteout_count; i++)
        layout_lookups_mark(l, m->out->whiteouts[i], layer);
}

static bool has_header(void *ctx, uint32_t dir)
{
    const struct marking *m = ctx;

    return like_view_has_header(&m->p->choice.view, dir);
}

/* A directory that several layers have adds to the lookups of all paths in it. */
static int count_extra(struct planning *p, const struct layout_like *out, struct layout_lookups *l,
                       struct err *err)
{
    size_t nodes = tree_count(l->in->tree);
    _cleanup_free_ uint32_t *paths = calloc(nodes, sizeof(*paths));
    _cleanup_free_ uint16_t *marks = calloc(nodes, sizeof(*marks));
    uint16_t *depth = l->depth;
    uint64_t *extra = calloc(out->kept + 1, sizeof(*extra));

    free(p->extra);
    p->extra = extra;
    if (!paths || !marks || !extra)
        return err_nomem(err);
    for (uint32_t node = 1; node < nodes; node++)
        paths[tree_parent(l->in->tree, node)] += p->choice.view.exists[node];
    for (size_t layer = 0; layer < out->kept; layer++) {
        memset(l->mark, 0, nodes * sizeof(*l->mark));
        l->depth = marks; /* these marks do not count */
        mark_kept(&(struct marking){p, out}, l, layer);
        l->depth = depth;
        for (uint32_t node = 0; node < nodes; node++)
            extra[layer] += l->mark[node] && depth[node] > 1 ? paths[node] : 0;
    }
    return 0;
}

static int count_lookups(struct planning *p, struct layout_like *out, struct err *err)
{
    struct marking m = {p, out};
    _cleanup_layout_lookups_ struct layout_lookups l = {.in = p->in,
                                                        .by_file = out->layout.by_file,
                                                        .layers = out->layout.count,
                                                        .describing = out->layout.count - 1,
                                                        .more = mark_more,
                                                        .has_header = has_header,
                                                        .ctx = &m,
                                                        .kept = out->kept};

    if (layout_lookups_count(&l, err) < 0)
        return -1;
    out->layout.split_dirs = l.split_dirs;
    out->layout.probes = l.probes;
    out->layout.described = steal_ptr(&l.described);
    return l.probes > p->options->max_probes ? count_extra(p, out, &l, err) : 0;
}

/* ---- all ---- */

static int find_whiteouts(const struct planning *p, struct layout_like *out, struct err *err)
{
    const struct like_view *v = &p->choice.view;
    uint32_t nodes = tree_count(p->in->tree);

    for (uint32_t node = 0; node < nodes; node++)
        out->whiteout_count += like_view_needs_whiteout(v, node);
    out->whiteouts = calloc(out->whiteout_count + 1, sizeof(*out->whiteouts));
    if (!out->whiteouts)
        return err_nomem(err);
    out->whiteout_count = 0;
    for (uint32_t node = 0; node < nodes; node++)
        if (like_view_needs_whiteout(v, node))
            out->whiteouts[out->whiteout_count++] = node;
    return 0;
}

static int plan_once(struct planning *p, struct layout_like *out, struct err *err)
{
    size_t layers = p->choice.view.previous->layer_count;

    out->fates = calloc(layers + 1, sizeof(*out->fates));
    if (!out->fates)
        return err_nomem(err);
    memcpy(out->fates, p->choice.fates, layers * sizeof(*out->fates));
    out->live = p->choice.live;
    out->dead = p->choice.dead;
    if (keep_layers(p, out, err) < 0 || place_new(p, out, err) < 0 ||
        find_whiteouts(p, out, err) < 0)
        return -1;
    for (size_t i = out->kept; i < out->layout.count; i++)
        out->transfer += out->layout.layers[i].bytes;
    return count_lookups(p, out, err);
}

/*
 * No plan can be asked for as few probes as a layout on its own has: all would be rewritten each
 * time where the limit is near.
 */
static int is_slow(struct planning *p, const struct layout_like *plan, bool *slow, struct err *err)
{
    _cleanup_layout_ struct layout alone = {0};

    *slow = false;
    if (plan->kept == 0 || plan->layout.probes <= p->options->max_probes)
        return 0;
    if (p->max_probes == 0) {
        if (layout_make(p->in, &p->options->layout, &alone, err) < 0)
            return -1;
        p->max_probes = alone.probes * SLOWER;
        if (p->max_probes < p->options->max_probes)
            p->max_probes = p->options->max_probes;
    }
    *slow = plan->layout.probes > p->max_probes;
    return 0;
}

/* Returns the previous layer whose directories cost the most lookups for a byte to rewrite. */
static size_t slowest(const struct planning *p, const struct layout_like *plan)
{
    size_t found = plan->previous[0];
    double most = -1;

    for (size_t i = 0; i < plan->kept; i++) {
        double bytes = (double)p->choice.view.live[plan->previous[i]];
        double cost = (double)p->extra[i] / (bytes + 1);
        if (cost <= most)
            continue;
        most = cost;
        found = plan->previous[i];
    }
    return found;
}

static int plan(struct planning *p, struct layout_like *out, struct err *err)
{
    bool slow = true;

    while (slow) {
        layout_like_clear(out);
        if (plan_once(p, out, err) < 0 || is_slow(p, out, &slow, err) < 0)
            return -1;
        if (slow && like_choice_drop(&p->choice, slowest(p, out), LAYOUT_SLOW, err) < 0)
            return -1;
    }
    return 0;
}

int layout_like_make(const struct layout_input *in, const struct layout_identity *identities,
                     const struct layout_previous *previous,
                     const struct layout_like_options *options, struct layout_like *out,
                     struct err *err)
{
    _cleanup_(planning_clear) struct planning p = {.in = in, .options = options};

    *out = (struct layout_like){0};
    if (layout_wishes_of(&options->layout, layout_total(in), &p.wishes, err) < 0)
        return -1;
    if (layout_order_make(in->tree, &p.order, err) < 0 ||
        like_choose(in, identities, previous, &p.wishes, options->max_dead, &p.choice, err) < 0)
        return -1;
    return plan(&p, out, err);
}
