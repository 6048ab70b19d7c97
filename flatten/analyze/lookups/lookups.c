#include "flatten/analyze/lookups/lookups_internal.h"

#include "base/ranking.h"

void lookup_report_clear(struct lookup_report *r)
{
    free(r->by_depth);
    free(r->entries_by_depth);
    *r = (struct lookup_report){0};
}

unsigned lookups_layers(const struct layer_stack *s, uint32_t node, unsigned floor, unsigned kept)
{
    unsigned count = 0, merged = 0;

    for (uint32_t at = layer_stack_newest(s, node); at != STACK_NONE; at = s->records[at].older) {
        const struct stack_record *r = &s->records[at];
        if (r->layer < floor)
            break;
        if (r->kind == MODEL_DIR && r->layer > kept)
            merged = 1;
        else
            count += r->kind == MODEL_DIR;
    }
    return count + merged;
}

/* Returns the oldest layer that a lookup of the visible path looks into. */
static unsigned search_end(const struct layer_stack *s, const struct stack_record *visible,
                           unsigned floor)
{
    if (visible->kind != MODEL_DIR)
        return visible->layer;
    for (uint32_t at = layer_stack_newest(s, visible->node); at != STACK_NONE;
         at = s->records[at].older) {
        const struct stack_record *r = &s->records[at];
        if (r->layer < floor)
            break;
        if (r->kind != MODEL_DIR || r->opaque)
            return r->layer;
    }
    return floor;
}

unsigned lookups_probes(const struct layer_stack *s, const uint16_t *floors,
                        const struct stack_record *visible, unsigned kept)
{
    uint32_t parent = tree_parent(s->tree, visible->node);
    unsigned floor = floors[parent];
    unsigned probes = lookups_layers(s, parent, search_end(s, visible, floor), kept);

    return probes ? probes : 1;
}

/* ---- sums ---- */

/* Returns mean, 99th percentile and maximum. counts[i]: how often the value i occurs. */
static struct lookup_stats stats_of(const uint64_t *counts, unsigned last)
{
    struct lookup_stats out = {0};
    uint64_t total = 0, sum = 0, passed = 0;

    for (unsigned i = 0; i <= last; i++) {
        total += counts[i];
        sum += counts[i] * i;
        out.most = counts[i] ? i : out.most;
    }
    if (total == 0)
        return out;
    out.mean = (double)sum / (double)total;
    for (unsigned i = 0; i <= last; i++) {
        passed += counts[i];
        if ((double)passed >= 0.99 * (double)total) {
            out.p99 = i;
            break;
        }
    }
    return out;
}

static uint64_t extra_probes(const void *dir)
{
    const struct lookup_dir *d = dir;

    return (uint64_t)d->entries * (d->layers - 1u);
}

static void offer_worst_dir(struct lookup_report *out, const struct lookup_dir *dir)
{
    if (dir->layers > 1 && dir->entries > 0)
        ranking_offer(out->worst, &out->worst_count, LOOKUP_WORST, sizeof(*dir), dir, extra_probes);
}

struct counting {
    const struct layer_stack *s;
    const uint16_t *floors;
    uint32_t *entries;  /* by node: visible names in it */
    uint64_t *existing; /* paths by probes */
    unsigned kept;
};

static void counting_clear(struct counting *c)
{
    free(c->entries);
    free(c->existing);
}

static void count_path(struct counting *c, uint32_t node, struct lookup_report *out)
{
    const struct stack_record *r = layer_stack_visible(c->s, c->floors, node);

    if (!r || node == TREE_ROOT)
        return;
    out->paths++;
    c->entries[tree_parent(c->s->tree, node)]++;
    c->existing[lookups_probes(c->s, c->floors, r, c->kept)]++;
}

static void count_dir(struct counting *c, uint32_t node, struct lookup_report *out)
{
    const struct stack_record *r = layer_stack_visible(c->s, c->floors, node);
    struct lookup_dir dir = {.node = node, .entries = c->entries[node]};

    if (!r || r->kind != MODEL_DIR)
        return;
    dir.layers = (uint16_t)lookups_layers(c->s, node, c->floors[node], c->kept);
    out->directories++;
    out->by_depth[dir.layers]++;
    out->entries_by_depth[dir.layers] += dir.entries;
    offer_worst_dir(out, &dir);
}

int lookups_count(const struct layer_stack *s, unsigned kept, struct lookup_report *out,
                  struct err *err)
{
    _cleanup_free_ uint16_t *floors = layer_stack_floors(s, err);
    _cleanup_(counting_clear) struct counting c = {.s = s, .floors = floors, .kept = kept};

    *out = (struct lookup_report){.layers = s->layers};
    if (!floors)
        return -1;
    c.entries = calloc(tree_count(s->tree), sizeof(*c.entries));
    c.existing = calloc(s->layers + 2, sizeof(*c.existing));
    out->by_depth = calloc(s->layers + 2, sizeof(*out->by_depth));
    out->entries_by_depth = calloc(s->layers + 2, sizeof(*out->entries_by_depth));
    if (!c.entries || !c.existing || !out->by_depth || !out->entries_by_depth)
        return err_nomem(err);
    for (uint32_t node = 0; node < s->nodes; node++)
        count_path(&c, node, out);
    for (uint32_t node = 0; node < s->nodes; node++)
        count_dir(&c, node, out);
    out->depth = stats_of(out->by_depth, s->layers);
    out->missing = stats_of(out->entries_by_depth, s->layers);
    out->existing = stats_of(c.existing, s->layers);
    return lookups_import(s, floors, kept, &out->import, err);
}
