#include "flatten/carve/layout/layout_bins.h"

#include "flatten/merge/tree/array.h"

enum { TIERS = TIER_STATE + 1 };

size_t layout_bins_for(uint64_t bytes, uint64_t cap)
{
    uint64_t room = cap - cap / 4, needed = bytes / room + (bytes % room != 0);
    size_t bins = 1;

    while (bins < needed)
        bins *= 2;
    return bins;
}

size_t layout_bin_choose(const uint64_t *load, size_t count, uint64_t key, uint64_t bytes,
                         uint64_t cap)
{
    uint64_t best = 0;
    size_t chosen = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t weight = layout_hash_pair(key, i) | 1;
        if (weight <= best || load[i] > cap || bytes > cap - load[i])
            continue;
        best = weight;
        chosen = i;
    }
    return chosen;
}

/* ---- one tier ---- */

struct filling {
    struct layout_groups *g;
    const struct layout_wishes *wishes;
    uint64_t cap;
    uint32_t *order; /* groups by tier and key: no decision depends on the order of owners */
    struct layout_bins *out;
};

static int by_tier_and_key(const void *a, const void *b, void *ctx)
{
    const struct layout_group *list = ((const struct layout_groups *)ctx)->list;
    const struct layout_group *left = &list[*(const uint32_t *)a];
    const struct layout_group *right = &list[*(const uint32_t *)b];

    if (left->tier != right->tier)
        return left->tier < right->tier ? -1 : 1;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->bytes < right->bytes ? -1 : left->bytes > right->bytes;
}

static struct layout_bin *add_bin(const struct filling *f, enum owner_tier tier, uint64_t key,
                                  struct err *err)
{
    struct layout_bins *out = f->out;
    struct layout_bin *bin = array_push(&out->list, &out->count, &out->cap, sizeof(*bin), err);

    if (bin)
        *bin = (struct layout_bin){.tier = tier, .key = key};
    return bin;
}

static void put_group(const struct filling *f, uint32_t group, size_t bin)
{
    struct layout_group *g = &f->g->list[group];

    g->layer = (uint32_t)bin;
    f->out->list[bin].bytes += g->bytes;
    f->out->list[bin].files += g->files;
}

/* The layers of its tier that a group goes to. */
enum place { PLACE_ALONE, PLACE_SHARED, PLACE_MINOR };

static enum place place_of(const struct filling *f, uint32_t group, enum owner_tier tier,
                           uint64_t total)
{
    const struct layout_group *g = &f->g->list[group];

    if (tier == TIER_STATE && total <= f->cap)
        return PLACE_SHARED;
    if (g->bytes > f->cap / 4)
        return PLACE_ALONE;
    return g->minor && !f->wishes->together ? PLACE_MINOR : PLACE_SHARED;
}

static int fill_alone(const struct filling *f, uint32_t group, enum owner_tier tier,
                      struct err *err)
{
    struct layout_bin *bin = add_bin(f, tier, f->g->list[group].key, err);

    if (!bin)
        return -1;
    bin->alone = true;
    put_group(f, group, f->out->count - 1);
    return 0;
}

/* The groups of a tier are order[start..end). */
struct tier_groups {
    size_t start, end;
    enum owner_tier tier;
    uint64_t total; /* bytes */
};

static size_t bins_for(const struct filling *f, const struct tier_groups *t, enum place place,
                       uint64_t bytes)
{
    bool one = f->wishes->together || t->tier == TIER_STATE || place == PLACE_MINOR;

    return one && bytes <= f->cap ? 1 : layout_bins_for(bytes, f->cap);
}

/* Fills bins with the groups of that place. */
static int fill_bins(const struct filling *f, const struct tier_groups *t, enum place place,
                     struct err *err)
{
    uint64_t bytes = 0;
    size_t first = f->out->count;

    for (size_t i = t->start; i < t->end; i++)
        if (place_of(f, f->order[i], t->tier, t->total) == place)
            bytes += f->g->list[f->order[i]].bytes;
    size_t bins = bins_for(f, t, place, bytes);
    _cleanup_free_ uint64_t *load = calloc(bins, sizeof(*load));
    if (!load)
        return err_nomem(err);
    for (size_t i = 0; i < bins; i++) {
        struct layout_bin *bin = add_bin(f, t->tier, i, err);
        if (!bin)
            return -1;
        bin->minor = place == PLACE_MINOR;
    }
    for (size_t i = t->start; i < t->end; i++) {
        const struct layout_group *g = &f->g->list[f->order[i]];
        if (place_of(f, f->order[i], t->tier, t->total) != place)
            continue;
        size_t bin = layout_bin_choose(load, bins, g->key, g->bytes, f->cap);
        load[bin] += g->bytes;
        put_group(f, f->order[i], first + bin);
    }
    return 0;
}

static int fill_tier(const struct filling *f, size_t start, size_t end, enum owner_tier tier,
                     struct err *err)
{
    struct tier_groups t = {.start = start, .end = end, .tier = tier};

    for (size_t i = start; i < end; i++)
        t.total += f->g->list[f->order[i]].bytes;
    for (size_t i = start; i < end; i++)
        if (place_of(f, f->order[i], tier, t.total) == PLACE_ALONE &&
            fill_alone(f, f->order[i], tier, err) < 0)
            return -1;
    if (fill_bins(f, &t, PLACE_MINOR, err) < 0 || fill_bins(f, &t, PLACE_SHARED, err) < 0)
        return -1;
    if (tier == TIER_STATE)
        f->out->list[f->out->count - 1].last = f->wishes->state;
    return 0;
}

/* All groups but state's are of one tier if they go together. */
static int fill_all(const struct filling *f, struct err *err)
{
    size_t start = 0;

    for (int tier = 0; tier < TIERS; tier++) {
        size_t end = start;
        bool more = f->wishes->together && tier < TIER_APPLICATION;
        while (end < f->g->count && (int)f->g->list[f->order[end]].tier <= tier)
            end++;
        if (more)
            continue;
        if (fill_tier(f, start, end, (enum owner_tier)tier, err) < 0)
            return -1;
        start = end;
    }
    return 0;
}

/* ---- order and number ---- */

/* True for the large groups that seldom change: they are below all others. */
static bool is_base(const struct layout_bin *bin)
{
    return bin->alone && bin->tier <= TIER_TOOLCHAIN;
}

/* Tiers by how often they change; within a tier, lookups seldom need layers of one large group. */
static int by_place(const void *a, const void *b, void *ctx)
{
    const struct layout_bin *list = ((const struct layout_bins *)ctx)->list;
    const struct layout_bin *left = &list[*(const size_t *)a];
    const struct layout_bin *right = &list[*(const size_t *)b];

    if (left->last != right->last)
        return left->last ? 1 : -1;
    if (is_base(left) != is_base(right))
        return is_base(left) ? -1 : 1;
    if (left->tier != right->tier)
        return left->tier < right->tier ? -1 : 1;
    if (left->alone != right->alone)
        return left->alone ? -1 : 1;
    if (left->minor != right->minor)
        return left->minor ? -1 : 1;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->bytes < right->bytes ? -1 : left->bytes > right->bytes;
}

/*
 * Rules for neighbours that may become one layer, strictest first. A large group stays alone while
 * others can be joined: it adds little to lookups, and a version that changes it changes no other.
 */
enum joining { JOIN_SHARED, JOIN_WITHIN_CAP, JOIN_TIER, JOIN_BELOW_STATE, JOIN_ANY };

static bool may_join(const struct layout_bin *a, const struct layout_bin *b, uint64_t cap,
                     enum joining how)
{
    bool within = a->tier == b->tier && a->bytes + b->bytes <= cap;

    switch (how) {
    case JOIN_SHARED:
        return within && !a->alone && !b->alone;
    case JOIN_WITHIN_CAP:
        return within;
    case JOIN_TIER:
        return a->tier == b->tier;
    case JOIN_BELOW_STATE:
        return !b->last;
    default:
        return true;
    }
}

/* Returns the index into `order` of the first of the two smallest neighbours, or SIZE_MAX. */
static size_t find_pair(const struct layout_bins *b, const size_t *order, size_t count,
                        uint64_t cap, enum joining how)
{
    size_t found = SIZE_MAX;
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i + 1 < count; i++) {
        const struct layout_bin *lower = &b->list[order[i]], *upper = &b->list[order[i + 1]];
        if (!may_join(lower, upper, cap, how) || lower->bytes + upper->bytes >= least)
            continue;
        least = lower->bytes + upper->bytes;
        found = i;
    }
    return found;
}

/* Joins order[at] and the next: the upper one stays, as it may be the state layer. */
static void join_pair(struct layout_bins *b, size_t *order, size_t *count, size_t at)
{
    struct layout_bin *lower = &b->list[order[at]], *upper = &b->list[order[at + 1]];

    upper->bytes += lower->bytes;
    upper->files += lower->files;
    upper->alone = false;
    lower->moved_to = order[at + 1];
    for (size_t i = at; i + 1 < *count; i++)
        order[i] = order[i + 1];
    (*count)--;
}

/* Returns false if the layers remain too many for the cap. */
static bool join_bins(struct layout_bins *b, size_t *order, size_t *count, uint64_t cap,
                      size_t limit, bool force)
{
    const enum joining most = force ? JOIN_ANY : JOIN_WITHIN_CAP;

    while (*count > limit) {
        size_t at = SIZE_MAX;
        for (enum joining how = JOIN_SHARED; at == SIZE_MAX && how <= most; how++)
            at = find_pair(b, order, *count, cap, how);
        if (at == SIZE_MAX)
            return false;
        join_pair(b, order, count, at);
    }
    return true;
}

/* Sorts the bins that are left to the front, and tells the groups. */
static int renumber(struct layout_groups *g, struct layout_bins *b, const size_t *order,
                    size_t count, struct err *err)
{
    struct layout_bin *sorted = calloc(count + 1, sizeof(*sorted));

    if (!sorted)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        sorted[i] = b->list[order[i]];
    for (uint32_t i = 0; i < g->count; i++) {
        size_t bin = g->list[i].layer;
        while (b->list[bin].moved_to != bin)
            bin = b->list[bin].moved_to;
        g->list[i].layer = (uint32_t)bin;
    }
    for (size_t i = 0; i < count; i++)
        b->list[order[i]].moved_to = i;
    for (uint32_t i = 0; i < g->count; i++)
        g->list[i].layer = (uint32_t)b->list[g->list[i].layer].moved_to;
    free(b->list);
    b->list = sorted;
    b->count = count;
    b->cap = count + 1;
    return 0;
}

/* Returns the non-empty bins, and the state layer, in their order. */
static size_t *sort_bins(struct layout_bins *b, size_t *count, struct err *err)
{
    size_t *order = calloc(b->count + 1, sizeof(*order));

    *count = 0;
    if (!order) {
        err_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < b->count; i++) {
        b->list[i].moved_to = i;
        if (b->list[i].files > 0 || b->list[i].last)
            order[(*count)++] = i;
    }
    qsort_r(order, *count, sizeof(*order), by_place, b);
    return order;
}

/* Returns 1 if the layers suffice, 0 if they do not, -1 without memory. */
static int make_once(struct filling *f, bool force, struct err *err)
{
    _cleanup_free_ uint32_t *groups = NULL;
    size_t count;

    f->out->count = 0;
    if (layout_groups_make(f->g, f->cap, err) < 0)
        return -1;
    f->order = groups = calloc(f->g->count + 1, sizeof(*groups));
    if (!groups)
        return err_nomem(err);
    for (uint32_t i = 0; i < f->g->count; i++)
        groups[i] = i;
    qsort_r(groups, f->g->count, sizeof(*groups), by_tier_and_key, f->g);
    if (fill_all(f, err) < 0)
        return -1;
    _cleanup_free_ size_t *order = sort_bins(f->out, &count, err);
    if (!order)
        return -1;
    if (!join_bins(f->out, order, &count, f->cap, f->wishes->layers, force))
        return 0;
    return renumber(f->g, f->out, order, count, err) < 0 ? -1 : 1;
}

/* Returns false if the layers cannot suffice: files above the cap have one each. */
static bool may_suffice(const struct layout_groups *g, uint64_t cap, size_t layers)
{
    uint64_t rest = g->total;
    size_t above = 0;

    for (uint32_t i = 0; i < g->starts[g->in->owners->count]; i++) {
        uint64_t bytes = g->in->files[g->sorted[i]].bytes;
        above += bytes > cap;
        rest -= bytes > cap ? bytes : 0;
    }
    return above < layers && cap >= rest / (layers - above);
}

int layout_bins_make(struct layout_groups *g, const struct layout_wishes *wishes,
                     struct layout_bins *out, struct err *err)
{
    struct filling f = {.g = g, .wishes = wishes, .cap = wishes->cap, .out = out};
    int rc = 0;

    *out = (struct layout_bins){0};
    while (!may_suffice(g, f.cap, wishes->layers))
        f.cap *= 2;
    while (rc == 0) {
        rc = make_once(&f, f.cap >= g->total, err);
        f.cap *= 2;
    }
    return rc < 0 ? -1 : 0;
}
