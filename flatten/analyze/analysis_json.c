#include "flatten/analyze/analysis.h"

#include <inttypes.h>
#include <string.h>

static void put_string(struct buf *out, const char *text)
{
    if (text)
        json_quote(out, text, strlen(text));
    else
        buf_puts(out, "null");
}

static void put_causes(struct buf *out, const char *key, const uint64_t causes[DEAD_CAUSES])
{
    buf_printf(out, ",\"%s\":{", key);
    for (int i = 0; i < DEAD_CAUSES; i++)
        buf_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "", dead_cause_key[i], causes[i]);
    buf_putc(out, '}');
}

static void put_layer(const struct analysis *a, size_t i, struct buf *out)
{
    const struct layer *layer = &a->image->layers[i];
    const struct dead_layer *d = &a->dead.layers[i];

    buf_printf(out, "%s{\"number\":%u,\"diff_id\":\"%s\",\"digest\":", i ? "," : "", layer->number,
               layer->diff_id.text);
    put_string(out, layer->digest.text[0] ? layer->digest.text : NULL);
    buf_puts(out, ",\"size\":");
    if (layer->walk)
        buf_puts(out, "null");
    else
        buf_printf(out, "%" PRIu64, layer->size);
    buf_puts(out, ",\"created_by\":");
    put_string(out, a->created_by[i]);
    buf_printf(out, ",\"files\":%" PRIu64 ",\"payload\":%" PRIu64 ",\"live\":%" PRIu64, d->files,
               d->payload, d->live);
    put_causes(out, "dead", d->dead);
    put_causes(out, "killed", d->killed);
    buf_putc(out, '}');
}

static void put_dead(const struct analysis *a, struct buf *out)
{
    const struct dead_report *d = &a->dead;
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_printf(out, ",\"payload\":{\"in\":%" PRIu64 ",\"live\":%" PRIu64 ",\"dead\":%" PRIu64 "}",
               d->payload, d->live, d->payload - d->live);
    put_causes(out, "dead", d->causes);
    buf_puts(out, ",\"kills\":[");
    for (size_t i = 0; i < d->kill_count; i++) {
        const struct dead_kill *k = &d->kills[i];
        buf_printf(out,
                   "%s{\"layer\":%u,\"by\":%u,\"cause\":\"%s\",\"bytes\":%" PRIu64
                   ",\"files\":%" PRIu64 "}",
                   i ? "," : "", k->layer, k->by, dead_cause_key[k->cause], k->bytes, k->files);
    }
    buf_puts(out, "],\"worst\":[");
    for (size_t i = 0; i < d->worst_count; i++) {
        const struct dead_path *w = &d->worst[i];
        buf_printf(out, "%s{\"path\":", i ? "," : "");
        put_string(out, layer_stack_path(&a->stack, w->node, &path));
        buf_printf(out, ",\"bytes\":%" PRIu64 ",\"copies\":%u,\"cause\":\"%s\",\"by\":%u}",
                   w->bytes, w->copies, dead_cause_key[w->cause], w->by);
    }
    buf_printf(out, "],\"dive\":{\"efficiency\":%.6f,\"wasted_bytes\":%" PRIu64 "}", d->efficiency,
               d->wasted_bytes);
}

static void put_stats(struct buf *out, const char *key, const struct lookup_stats *s)
{
    buf_printf(out, "\"%s\":{\"mean\":%.4f,\"p99\":%u,\"most\":%u},", key, s->mean, s->p99,
               s->most);
}

static void put_import(const struct analysis *a, struct buf *out)
{
    const struct lookup_import *i = &a->lookups.import, *flat = &a->flat.import;
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_puts(out, "\"python\":{\"sites\":[");
    for (size_t n = 0; n < i->site_count; n++) {
        buf_printf(out, "%s{\"path\":", n ? "," : "");
        put_string(out, layer_stack_path(&a->stack, i->sites[n].node, &path));
        buf_printf(out, ",\"layers\":%u,\"modules\":%u}", i->sites[n].layers, i->sites[n].modules);
    }
    buf_printf(out,
               "],\"modules\":%" PRIu64 ",\"existing\":{\"lookups\":%" PRIu64 ",\"probes\":%" PRIu64
               ",\"flat\":%" PRIu64 "}",
               i->modules, i->found, i->found_probes, flat->found_probes);
    buf_printf(
        out, ",\"missing\":{\"lookups\":%" PRIu64 ",\"probes\":%" PRIu64 ",\"flat\":%" PRIu64 "}},",
        i->absent, i->absent_probes, flat->absent_probes);
}

/* Appends the origin of k; null and [] for defaults. */
static void put_costs(const struct lookup_costs *c, struct buf *out)
{
    const struct {
        const char *key, *text;
    } texts[] = {
        {"file", c->file}, {"date", c->date}, {"kernel", c->kernel}, {"filesystem", c->filesystem}};
    const char *comma = "";

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        buf_printf(out, ",\"%s\":", texts[i].key);
        put_string(out, c->file[0] ? texts[i].text : NULL);
    }
    buf_puts(out, ",\"measured\":[");
    for (int cold = 0; cold < LOOKUP_COLDS; cold++) {
        if (!c->measured[cold])
            continue;
        buf_printf(out, "%s\"%s\"", comma, lookup_cold_key[cold]);
        comma = ",";
    }
    buf_putc(out, ']');
}

static void put_model(const struct analysis *a, struct buf *out)
{
    const struct lookup_report *l = &a->lookups;
    const double layers[LOOKUP_KINDS] = {l->existing.mean, l->missing.mean, l->depth.mean};

    buf_puts(out, "\"model\":{\"formula\":\"1 + k * (probes - 1)\"");
    put_costs(a->costs, out);
    for (int kind = 0; kind < LOOKUP_KINDS; kind++) {
        buf_printf(out, ",\"%s\":{", lookup_kind_key[kind]);
        for (int cold = 0; cold < LOOKUP_COLDS; cold++)
            buf_printf(out, "%s\"%s\":{\"k\":%g,\"ratio\":%.4f}", cold ? "," : "",
                       lookup_cold_key[cold], a->costs->k[kind][cold],
                       lookup_ratio(a->costs, kind, cold, layers[kind]));
        buf_putc(out, '}');
    }
    buf_putc(out, '}');
}

static void put_lookups(const struct analysis *a, struct buf *out)
{
    const struct lookup_report *l = &a->lookups;
    _cleanup_buf_ struct buf path = BUF_INIT;
    const char *comma = "";

    buf_printf(out, ",\"lookups\":{\"directories\":%" PRIu64 ",\"paths\":%" PRIu64 ",",
               l->directories, l->paths);
    put_stats(out, "depth", &l->depth);
    put_stats(out, "existing", &l->existing);
    put_stats(out, "missing", &l->missing);
    buf_puts(out, "\"by_layers\":[");
    for (unsigned i = 1; i <= l->layers; i++) {
        if (!l->by_depth[i])
            continue;
        buf_printf(out, "%s{\"layers\":%u,\"directories\":%" PRIu64 ",\"entries\":%" PRIu64 "}",
                   comma, i, l->by_depth[i], l->entries_by_depth[i]);
        comma = ",";
    }
    buf_puts(out, "],\"worst\":[");
    for (size_t i = 0; i < l->worst_count; i++) {
        buf_printf(out, "%s{\"path\":", i ? "," : "");
        put_string(out, layer_stack_path(&a->stack, l->worst[i].node, &path));
        buf_printf(out, ",\"layers\":%u,\"entries\":%u}", l->worst[i].layers, l->worst[i].entries);
    }
    buf_puts(out, "],\"flat\":{");
    put_stats(out, "depth", &a->flat.depth);
    put_stats(out, "existing", &a->flat.existing);
    put_stats(out, "missing", &a->flat.missing);
    buf_truncate(out, out->len - 1);
    buf_puts(out, "},");
    put_import(a, out);
    put_model(a, out);
    buf_putc(out, '}');
}

static void put_pull(struct buf *out, const char *key, const struct carve_pull *p)
{
    buf_printf(out, ",\"%s\":{\"bytes\":%" PRIu64 ",\"largest\":%" PRIu64 ",\"seconds\":{", key,
               p->bytes, p->largest);
    for (size_t i = 0; i < CARVE_STREAMS; i++)
        buf_printf(out, "%s\"%u\":%.6f", i ? "," : "", carve_streams[i], p->seconds[i]);
    buf_puts(out, "}}");
}

static void put_carving(const struct analysis *a, struct buf *out)
{
    const struct carve_estimate *c = &a->carving;

    if (!c->pays) {
        buf_puts(out, ",\"carve\":null");
        return;
    }
    buf_printf(out, ",\"carve\":{\"layers\":%zu,\"probes\":%.4f,\"estimated\":%s", c->layers,
               c->probes, c->estimated ? "true" : "false");
    put_pull(out, "source", &c->source);
    put_pull(out, "carved", &c->carved);
    buf_putc(out, '}');
}

static void put_advice(const struct analysis *a, struct buf *out)
{
    buf_puts(out, ",\"advice\":[");
    for (size_t i = 0; i < a->advice.count; i++) {
        const struct advice *advice = &a->advice.list[i];
        buf_printf(out, "%s{\"kind\":\"%s\",\"bytes\":%" PRIu64 ",\"text\":", i ? "," : "",
                   advice->kind, advice->bytes);
        put_string(out, advice->text);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_duplicates(const struct analysis *a, struct buf *out)
{
    const struct duplicate_report *d = &a->duplicates;
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_printf(out,
               ",\"duplicates\":{\"groups\":%" PRIu64 ",\"files\":%" PRIu64 ",\"bytes\":%" PRIu64
               ",\"worst\":[",
               d->groups, d->files, d->bytes);
    for (size_t i = 0; i < d->worst_count; i++) {
        const struct duplicate_group *g = &d->worst[i];
        buf_printf(out, "%s{\"size\":%" PRIu64 ",\"copies\":%u,\"layers\":%u,\"paths\":[",
                   i ? "," : "", g->size, g->copies, g->layers);
        for (uint32_t n = 0; n < g->copies && n < DUPLICATE_PATHS; n++) {
            buf_puts(out, n ? "," : "");
            put_string(out, layer_stack_path(&a->stack, g->nodes[n], &path));
        }
        buf_puts(out, "]}");
    }
    buf_puts(out, "]}");
}

static void put_stale(const struct analysis *a, struct buf *out)
{
    const struct stale_report *s = &a->stale;
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_printf(out,
               ",\"pyc\":{\"files\":%" PRIu64 ",\"stale\":%" PRIu64 ",\"orphans\":%" PRIu64
               ",\"bytes\":%" PRIu64 ",\"worst\":[",
               s->compiled, s->stale, s->orphan, s->bytes);
    for (size_t i = 0; i < s->worst_count; i++) {
        buf_puts(out, i ? "," : "");
        put_string(out, layer_stack_path(&a->stack, s->worst[i], &path));
    }
    buf_puts(out, "]}");
}

void duplicates_put_shared_json(const struct duplicate_shared *s, struct buf *out)
{
    buf_printf(out,
               "\"shared\":{\"payload\":%" PRIu64 ",\"by_layer\":%" PRIu64 ",\"by_file\":%" PRIu64
               "}",
               s->payload, s->by_layer, s->by_file);
}

static void put_rules(const struct analysis *a, struct buf *out)
{
    buf_puts(out, ",\"rules\":[");
    for (size_t i = 0; i < a->result_count; i++) {
        const struct ci_result *r = &a->results[i];
        buf_printf(out, "%s{\"rule\":\"%s\",\"limit\":%.12g,\"value\":%.12g,\"kept\":%s}",
                   i ? "," : "", ci_rule_key[r->rule], r->limit, r->value,
                   r->kept ? "true" : "false");
    }
    buf_putc(out, ']');
}

void analysis_put_json(const struct analysis *a, const struct dedup_report *together,
                       struct buf *out)
{
    buf_puts(out, "{\"source\":");
    put_string(out, a->source);
    buf_puts(out, ",\"name\":");
    put_string(out, a->image->name);
    buf_printf(out, ",\"id\":\"%s\",\"layers\":[", a->image->config_digest.text);
    for (size_t i = 0; i < a->image->layer_count; i++)
        put_layer(a, i, out);
    buf_puts(out, "]");
    put_dead(a, out);
    analysis_put_owners_json(a, out);
    put_lookups(a, out);
    if (a->compared) {
        put_duplicates(a, out);
        put_stale(a, out);
    }
    if (a->zfs.record)
        analysis_put_zfs_json(a, together, out);
    put_carving(a, out);
    put_advice(a, out);
    put_rules(a, out);
    buf_putc(out, '}');
}
