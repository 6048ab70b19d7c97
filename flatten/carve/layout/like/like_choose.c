#include "flatten/carve/layout/like/like_choose.h"

#include "flatten/carve/layout/layout_steps.h"
#include "flatten/carve/layout/like/cover.h"

void like_choice_clear(struct like_choice *c)
{
    like_view_clear(&c->view);
    free(c->kept);
    free(c->fates);
    free(c->old);
    *c = (struct like_choice){0};
}

bool like_is_state(const struct layout_input *in, size_t file)
{
    return in->owners->list[in->files[file].owner].tier == TIER_STATE;
}

/* ---- sums ---- */

static size_t layer_count(const struct like_choice *c)
{
    return c->view.previous->layer_count;
}

static uint64_t dead_of(const struct like_choice *c, size_t layer)
{
    return c->view.bytes[layer] - c->view.live[layer];
}

static void drop(struct like_choice *c, size_t layer, enum layout_fate fate)
{
    c->kept[layer] = false;
    c->fates[layer] = (uint8_t)fate;
}

static bool drop_unsound(struct like_choice *c)
{
    bool any = false;

    for (size_t i = 0; i < layer_count(c); i++)
        if (c->kept[i] && c->view.unsound[i]) {
            drop(c, i, LAYOUT_UNSOUND);
            any = true;
        }
    return any;
}

/* Looks at the layers that are kept, without those that engines disagree about. */
static void view_sound(struct like_choice *c)
{
    do
        like_view_make(&c->view, c->kept);
    while (drop_unsound(c));
}

/* The same, and sums. */
static void look(struct like_choice *c)
{
    const struct layout_input *in = c->view.in;

    view_sound(c);
    c->count = 0;
    c->live = c->dead = c->cold = c->hot = 0;
    for (size_t i = 0; i < layer_count(c); i++) {
        if (!c->kept[i])
            continue;
        c->count++;
        c->live += c->view.live[i];
        c->dead += dead_of(c, i);
    }
    for (size_t i = 0; i < in->file_count; i++)
        if (c->view.by_file[i] == LIKE_NEW && !like_is_state(in, i))
            *(c->old[i] ? &c->cold : &c->hot) += in->files[i].bytes;
}

static bool too_dead(const struct like_choice *c)
{
    return (double)c->dead > c->max_dead * ((double)c->dead + (double)c->total);
}

/* Returns how many new layers of the cap it takes: bins are three quarters full. */
static size_t layers_for(const struct like_choice *c, uint64_t bytes)
{
    uint64_t room = c->wishes->cap - c->wishes->cap / 4;
    uint64_t layers = bytes / room + (bytes % room != 0);

    return layers < LAYOUT_MOST_LAYERS ? (size_t)layers : LAYOUT_MOST_LAYERS;
}

/* The state layer is one more. */
static bool too_many(const struct like_choice *c)
{
    return c->count + layers_for(c, c->hot + c->cold) + 1 > c->wishes->layers;
}

/* ---- layers to drop ---- */

static bool drop_unused(struct like_choice *c)
{
    bool any = false;

    for (size_t i = 0; i < layer_count(c); i++)
        if (c->kept[i] && c->view.live[i] == 0) {
            drop(c, i, LAYOUT_UNUSED);
            any = true;
        }
    return any;
}

/* Returns the kept layer with the fewest bytes to rewrite; SIZE_MAX if none is kept. */
static size_t smallest(const struct like_choice *c)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < layer_count(c); i++)
        if (c->kept[i] && (found == SIZE_MAX || c->view.live[i] < c->view.live[found]))
            found = i;
    return found;
}

/* Drops the layers whose files take the fewest bytes to rewrite, so that enough dead ones go. */
static int drop_dead(struct like_choice *c, struct err *err)
{
    double most = c->max_dead / (1 - c->max_dead) * (double)c->total;
    _cleanup_free_ struct cover_item *items = calloc(layer_count(c) + 1, sizeof(*items));
    _cleanup_free_ bool *chosen = calloc(layer_count(c) + 1, sizeof(*chosen));

    if (!items || !chosen)
        return err_nomem(err);
    for (size_t i = 0; i < layer_count(c); i++)
        if (c->kept[i])
            items[i] = (struct cover_item){c->view.live[i], dead_of(c, i)};
    if (cover_choose(items, layer_count(c), (uint64_t)((double)c->dead - most) + 1, chosen, err) <
        0)
        return -1;
    for (size_t i = 0; i < layer_count(c); i++)
        if (chosen[i] && items[i].worth > 0)
            drop(c, i, LAYOUT_DEAD);
    look(c);
    return 0;
}

/* Drops layers until neither the dead bytes nor the layers are too many. */
static int choose(struct like_choice *c, struct err *err)
{
    do
        look(c);
    while (drop_unused(c));
    while (too_dead(c))
        if (drop_dead(c, err) < 0)
            return -1;
    while (c->count > 0 && too_many(c)) {
        drop(c, smallest(c), LAYOUT_MANY);
        look(c);
    }
    return 0;
}

int like_choice_drop(struct like_choice *c, size_t layer, enum layout_fate fate, struct err *err)
{
    drop(c, layer, fate);
    return choose(c, err);
}

/* ---- all ---- */

static void find_old(struct like_choice *c)
{
    view_sound(c);
    for (size_t i = 0; i < c->view.in->file_count; i++)
        c->old[i] = c->view.by_file[i] != LIKE_NEW;
}

int like_choose(const struct layout_input *in, const struct layout_identity *identities,
                const struct layout_previous *previous, const struct layout_wishes *wishes,
                double max_dead, struct like_choice *out, struct err *err)
{
    *out = (struct like_choice){.wishes = wishes, .max_dead = max_dead, .total = layout_total(in)};
    if (like_view_init(in, identities, previous, &out->view, err) < 0)
        return -1;
    out->kept = calloc(previous->layer_count + 1, sizeof(*out->kept));
    out->fates = calloc(previous->layer_count + 1, sizeof(*out->fates));
    out->old = calloc(in->file_count + 1, sizeof(*out->old));
    if (!out->kept || !out->fates || !out->old)
        return err_nomem(err);
    for (size_t i = 0; i < previous->layer_count; i++)
        out->kept[i] = true;
    find_old(out);
    for (size_t i = 0; i < previous->layer_count; i++)
        if (previous->layers[i].state && out->kept[i])
            drop(out, i, LAYOUT_STATE);
    return choose(out, err);
}
