#include "flatten/analyze/analysis.h"

#include "base/human.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_KILLS = 10, MOST_STEP = 60, MOST_PATH = 200 };

static void put_head(const struct analysis *a, struct buf *out)
{
    const struct dead_report *d = &a->dead;
    char payload[HUMAN_SIZE], dead[HUMAN_SIZE], wasted[HUMAN_SIZE];

    human_put_short(out, a->source, MOST_PATH);
    buf_printf(out, "\n  %u layer%s, %" PRIu64 " entr%s, %s of file content\n", d->layer_count,
               human_s(d->layer_count), a->read.entries_in, human_y(a->read.entries_in),
               human_size(d->payload, payload));
    buf_printf(out, "  %s dead (%.1f %%); dive: efficiency %.2f %%, %s wasted\n",
               human_size(d->payload - d->live, dead),
               human_share(d->payload - d->live, d->payload), 100 * d->efficiency,
               human_size(d->wasted_bytes, wasted));
}

static void put_causes(const struct dead_report *d, struct buf *out)
{
    char size[HUMAN_SIZE];

    buf_puts(out, "\nDead bytes by cause\n");
    for (int i = 0; i < DEAD_CAUSES; i++)
        buf_printf(out, "  %-17s %9s  %5.1f %%\n", dead_cause_text[i],
                   human_size(d->causes[i], size), human_share(d->causes[i], d->payload));
}

static uint64_t sum(const uint64_t causes[DEAD_CAUSES])
{
    uint64_t total = 0;

    for (int i = 0; i < DEAD_CAUSES; i++)
        total += causes[i];
    return total;
}

static void put_step(const struct analysis *a, unsigned layer, struct buf *out)
{
    const char *step = a->created_by[layer - 1];

    if (step)
        human_put_short(out, step, MOST_STEP);
}

static void put_layers(const struct analysis *a, struct buf *out)
{
    char payload[HUMAN_SIZE], live[HUMAN_SIZE], dead[HUMAN_SIZE], killed[HUMAN_SIZE];

    buf_puts(out, "\nLayers         content      live      dead     hides  created by\n");
    for (unsigned i = 0; i < a->dead.layer_count; i++) {
        const struct dead_layer *l = &a->dead.layers[i];
        buf_printf(out, "  %4u       %9s %9s %9s %9s  ", i + 1, human_size(l->payload, payload),
                   human_size(l->live, live), human_size(l->payload - l->live, dead),
                   human_size(sum(l->killed), killed));
        put_step(a, i + 1, out);
        buf_putc(out, '\n');
    }
}

static void put_kills(const struct analysis *a, struct buf *out)
{
    const struct dead_report *d = &a->dead;
    char size[HUMAN_SIZE];

    if (d->kill_count == 0)
        return;
    buf_puts(out, "\nWhich layer hides what\n");
    for (size_t i = 0; i < d->kill_count && i < MOST_KILLS; i++) {
        const struct dead_kill *k = &d->kills[i];
        buf_printf(out, "  %9s of layer %u in layer %u: %s, %" PRIu64 " file%s  ",
                   human_size(k->bytes, size), k->layer, k->by, dead_cause_text[k->cause], k->files,
                   human_s(k->files));
        put_step(a, k->by, out);
        buf_putc(out, '\n');
    }
    if (d->kill_count > MOST_KILLS)
        buf_printf(out, "  and %zu more (--json has all)\n", d->kill_count - MOST_KILLS);
}

static void put_worst(const struct analysis *a, struct buf *out)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    char size[HUMAN_SIZE];

    if (a->dead.worst_count == 0)
        return;
    buf_puts(out, "\nThe worst paths\n");
    for (size_t i = 0; i < a->dead.worst_count; i++) {
        const struct dead_path *w = &a->dead.worst[i];
        buf_printf(out, "  %9s  /", human_size(w->bytes, size));
        human_put_short(out, layer_stack_path(&a->stack, w->node, &path), MOST_PATH);
        buf_printf(out, "  (%s, layer %u", dead_cause_text[w->cause], w->by);
        if (w->copies > 1)
            buf_printf(out, ", %u copies", w->copies);
        buf_puts(out, ")\n");
    }
}

static void put_ratio(const struct analysis *a, const char *what, enum lookup_kind kind,
                      double layers, struct buf *out)
{
    buf_printf(out, "  %-16s %8.2f %12.1fx %12.1fx %8.1fx\n", what, layers,
               lookup_ratio(a->costs, kind, LOOKUP_MOUNT, layers),
               lookup_ratio(a->costs, kind, LOOKUP_DENTRIES, layers),
               lookup_ratio(a->costs, kind, LOOKUP_DISK, layers));
}

/* Appends the origin of k. */
static void put_costs(const struct lookup_costs *c, struct buf *out)
{
    static const char *const states[LOOKUP_COLDS] = {"fresh mount", "no dentries", "no cache"};
    const char *comma = "; by default: ";

    if (!c->file[0]) {
        buf_puts(out, "  k by default; flatbed bench --save measures it on this host.\n");
        return;
    }
    buf_printf(out, "  k measured %s", c->saved_here ? "on this host, " : "");
    human_put_short(out, c->date, MOST_PATH);
    buf_puts(out, ", kernel ");
    human_put_short(out, c->kernel, MOST_PATH);
    buf_puts(out, ", ");
    human_put_short(out, c->filesystem, MOST_PATH);
    buf_puts(out, " (");
    human_put_short(out, c->file, MOST_PATH);
    buf_putc(out, ')');
    for (int cold = 0; cold < LOOKUP_COLDS; cold++) {
        if (c->measured[cold])
            continue;
        buf_printf(out, "%s%s", comma, states[cold]);
        comma = ", ";
    }
    buf_puts(out, ".\n");
}

static void put_import(const struct analysis *a, struct buf *out)
{
    const struct lookup_import *i = &a->lookups.import, *flat = &a->flat.import;

    if (i->modules == 0)
        return;
    buf_printf(out,
               "  Python: importing each module once (%" PRIu64 ") over sys.path (%zu entr%s)"
               " makes %" PRIu64 " probe%s\n  for names that exist and %" PRIu64
               " for names that do not; flattened %" PRIu64 " and %" PRIu64 ".\n",
               i->modules, i->site_count, human_y(i->site_count), i->found_probes,
               human_s(i->found_probes), i->absent_probes, flat->found_probes, flat->absent_probes);
}

static void put_lookups(const struct analysis *a, struct buf *out)
{
    const struct lookup_report *l = &a->lookups;
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_printf(
        out,
        "\nLookups: %" PRIu64 " path%s in %" PRIu64 " director%s\n"
        "  a cold ...         probes  fresh mount  no dentries  no cache   (against one layer: "
        "1 + k * (probes - 1))\n",
        l->paths, human_s(l->paths), l->directories, human_y(l->directories));
    put_ratio(a, "stat", LOOKUP_STAT, l->existing.mean, out);
    put_ratio(a, "missing name", LOOKUP_MISSING, l->missing.mean, out);
    put_ratio(a, "readdir", LOOKUP_READDIR, l->depth.mean, out);
    buf_printf(
        out,
        "  99 %% of the paths take at most %u probe%s, of missing names %u; flattened all take "
        "1.\n",
        l->existing.p99, human_s(l->existing.p99), l->missing.p99);
    put_costs(a->costs, out);
    put_import(a, out);
    if (l->worst_count)
        buf_puts(out, "  Directories in many layers\n");
    for (size_t i = 0; i < l->worst_count && i < MOST_KILLS; i++) {
        buf_printf(out, "    %4u layer%s, %6u name%s  /", l->worst[i].layers,
                   human_s(l->worst[i].layers), l->worst[i].entries, human_s(l->worst[i].entries));
        human_put_short(out, layer_stack_path(&a->stack, l->worst[i].node, &path), MOST_PATH);
        buf_putc(out, '\n');
    }
}

static void put_group(const struct analysis *a, const struct duplicate_group *g, struct buf *out)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    char size[HUMAN_SIZE];

    buf_printf(out, "  %9s  %u times, in %u layer%s:", human_size(g->size, size), g->copies,
               g->layers, human_s(g->layers));
    for (uint32_t i = 0; i < g->copies && i < DUPLICATE_PATHS; i++) {
        buf_puts(out, " /");
        human_put_short(out, layer_stack_path(&a->stack, g->nodes[i], &path), MOST_PATH);
    }
    buf_puts(out, g->copies > DUPLICATE_PATHS ? " …\n" : "\n");
}

static void put_duplicates(const struct analysis *a, struct buf *out)
{
    const struct duplicate_report *d = &a->duplicates;
    const struct stale_report *s = &a->stale;
    char size[HUMAN_SIZE];

    buf_printf(out, "\nDuplicates: %" PRIu64 " file%s the content of others, %s\n", d->files,
               d->files == 1 ? " repeats" : "s repeat", human_size(d->bytes, size));
    for (size_t i = 0; i < d->worst_count && i < MOST_KILLS; i++)
        put_group(a, &d->worst[i], out);
    buf_printf(out,
               "Compiled Python: %" PRIu64 " file%s, %" PRIu64
               " older or newer than their source, %" PRIu64 " without one; %s\n",
               s->compiled, human_s(s->compiled), s->stale, s->orphan, human_size(s->bytes, size));
}

void duplicates_put_shared_text(const struct duplicate_shared *s, struct buf *out)
{
    char all[HUMAN_SIZE], layer[HUMAN_SIZE], file[HUMAN_SIZE];

    buf_printf(out,
               "\nTogether\n  %9s  in all images\n  %9s  with every layer stored once\n"
               "  %9s  with every content stored once\n",
               human_size(s->payload, all), human_size(s->by_layer, layer),
               human_size(s->by_file, file));
}

static void put_advice(const struct analysis *a, struct buf *out)
{
    if (a->advice.count)
        buf_puts(out, "\nAdvice\n");
    for (size_t i = 0; i < a->advice.count; i++)
        buf_printf(out, "  - %s\n", a->advice.list[i].text);
}

static void put_rules(const struct analysis *a, struct buf *out)
{
    if (a->result_count)
        buf_puts(out, "\nRules\n");
    for (size_t i = 0; i < a->result_count; i++) {
        buf_printf(out, "  %-8s", a->results[i].kept ? "kept" : "BROKEN");
        ci_result_put_text(&a->results[i], out);
        buf_putc(out, '\n');
    }
}

void analysis_put_text(const struct analysis *a, const struct dedup_report *together,
                       struct buf *out)
{
    put_head(a, out);
    put_causes(&a->dead, out);
    put_layers(a, out);
    put_kills(a, out);
    put_worst(a, out);
    analysis_put_owners_text(a, out);
    put_lookups(a, out);
    if (a->compared)
        put_duplicates(a, out);
    if (a->zfs.record)
        analysis_put_zfs_text(a, together, out);
    put_advice(a, out);
    put_rules(a, out);
}
