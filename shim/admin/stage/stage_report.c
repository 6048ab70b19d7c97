#include "shim/admin/stage/stage_report.h"

#include "base/cli/columns.h"
#include "base/human.h"
#include "shim/admin/stage/stage_target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

struct reading {
    struct arena *arena;
    struct stage_report *out;
};

static int read_cache(void *context, const struct policy_stage *rules, struct err *err)
{
    struct reading *r = context;
    _cleanup_stage_cache_ struct stage_cache cache = STAGE_CACHE_INIT;
    struct stage_report_cache read = {.rules = rules};
    struct err why = ERR_INIT;

    if (stage_cache_open(rules->cache.text, false, &cache, &why) < 0) {
        if (why.kind != ERR_SYSTEM || why.sys != ENOENT)
            read.problem = arena_strndup(r->arena, why.msg, strlen(why.msg));
    } else if (stage_list(&cache, r->arena, &read.items, err) < 0) {
        return -1;
    }
    read.bytes = stage_taken(&read.items);
    r->out->list = arena_extend(r->arena, r->out->list, r->out->count, sizeof(*r->out->list));
    if (!r->out->list)
        return err_nomem(err);
    r->out->list[r->out->count++] = read;
    return 0;
}

int stage_report_read(const struct policy *policy, struct arena *arena, struct stage_report *out,
                      struct err *err)
{
    struct reading reading = {arena, out};

    *out = (struct stage_report){0};
    return stage_caches(policy, read_cache, &reading, err);
}

/* ---- words ---- */

static const char *state_word(const struct stage_item *item)
{
    if (item->replaced)
        return "replaced";
    switch (item->state) {
    case STAGE_COPYING:
        return "copying";
    case STAGE_READY:
        return "staged";
    default:
        return "interrupted";
    }
}

static const char *time_text(time_t when, struct arena *arena)
{
    struct tm local;
    char text[32];

    if (!when || !localtime_r(&when, &local) ||
        !strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local))
        return NULL;
    return arena_strndup(arena, text, strlen(text));
}

static const char *size_text(const struct stage_item *item, struct arena *arena)
{
    char size[HUMAN_SIZE];

    if (item->state == STAGE_COPYING && item->progress.total)
        return arena_printf(
            arena, "%u %%",
            (unsigned)((double)item->progress.bytes * 100 / (double)item->progress.total));
    human_size_binary(item->record.room, size);
    return arena_strndup(arena, size, strlen(size));
}

static const char *owner_text(const struct stage_item *item, struct arena *arena)
{
    if (item->state != STAGE_READY)
        return NULL;
    return item->record.owned ? arena_printf(arena, "uid %u", (unsigned)item->record.owner) : "all";
}

/* Returns the source, with the beginning of the digest of what was fetched. */
static const char *source_text(const struct stage_item *item, struct arena *arena)
{
    enum { SHOWN = sizeof("sha256:") - 1 + 12 };
    const struct stage_record *r = &item->record;

    if (!r->source || !r->digest)
        return r->source ? r->source : item->name;
    return arena_printf(arena, "%s (%.*s)", r->source, SHOWN, r->digest);
}

static const char *launches_text(const struct stage_item *item, struct arena *arena)
{
    return item->state == STAGE_READY
               ? arena_printf(arena, "%llu", (unsigned long long)item->launches)
               : NULL;
}

static const char *use_text(const struct stage_item *item)
{
    if (item->mounted)
        return item->pinned ? "mounted, pinned" : "mounted";
    return item->pinned ? "pinned" : NULL;
}

/* ---- the table ---- */

static void fill_row(const struct stage_item *item, struct arena *arena, struct columns_row *row)
{
    *row = (struct columns_row){
        .cells = {state_word(item), size_text(item, arena), owner_text(item, arena),
                  launches_text(item, arena), time_text(item->used, arena),
                  time_text(item->checked, arena), use_text(item), source_text(item, arena)}};
}

static int print_items(const struct stage_items *items, size_t terminal, struct arena *arena,
                       struct buf *out, struct err *err)
{
    enum { COLUMNS = 8 };
    struct columns_row *rows = arena_alloc(arena, (items->count + 1) * sizeof(*rows));

    if (!rows)
        return err_nomem(err);
    rows[0] = (struct columns_row){
        .cells = {"STATE", "SIZE", "FOR", "LAUNCHES", "USED", "COMPARED", "IN USE", "SOURCE"}};
    for (size_t i = 0; i < items->count; i++)
        fill_row(&items->list[i], arena, &rows[i + 1]);
    columns_print(rows, items->count + 1, COLUMNS, terminal, out);
    return 0;
}

static void print_head(const struct stage_report_cache *cache, struct buf *out)
{
    char used[HUMAN_SIZE], most[HUMAN_SIZE];

    buf_put_printable(out, cache->rules->cache.text, strlen(cache->rules->cache.text));
    if (cache->problem) {
        buf_puts(out, ": ");
        buf_put_printable(out, cache->problem, strlen(cache->problem));
        buf_putc(out, '\n');
        return;
    }
    buf_printf(out, ": %s", human_size_binary(cache->bytes, used));
    if (cache->rules->max)
        buf_printf(out, " of %s", human_size_binary(cache->rules->max, most));
    buf_putc(out, '\n');
}

int stage_report_print(const struct stage_report *report, size_t terminal, struct arena *arena,
                       struct buf *out, struct err *err)
{
    if (!report->count)
        buf_puts(out, "no class of the policy has \"stage\"\n");
    for (size_t i = 0; i < report->count; i++) {
        if (i)
            buf_putc(out, '\n');
        print_head(&report->list[i], out);
        if (report->list[i].items.count &&
            print_items(&report->list[i].items, terminal, arena, out, err) < 0)
            return -1;
    }
    return buf_check(out, err);
}

/* ---- JSON ---- */

static struct json *item_json(const struct stage_item *item, struct json_doc *doc)
{
    struct json *object = json_object(doc);
    const struct stage_record *r = &item->record;

    json_set(doc, object, "name", json_string(doc, item->name));
    json_set(doc, object, "state", json_string(doc, state_word(item)));
    json_set(doc, object, "mounted", json_bool(doc, item->mounted));
    if (r->source)
        json_set(doc, object, "source", json_string(doc, r->source));
    if (r->digest)
        json_set(doc, object, "digest", json_string(doc, r->digest));
    if (item->state == STAGE_COPYING) {
        json_set(doc, object, "copied", json_number(doc, item->progress.bytes));
        json_set(doc, object, "bytes", json_number(doc, item->progress.total));
        json_set(doc, object, "since", json_number(doc, item->progress.since));
    }
    if (item->state != STAGE_READY)
        return object;
    if (r->owned)
        json_set(doc, object, "owner", json_number(doc, r->owner));
    json_set(doc, object, "files", json_number(doc, r->totals.files));
    json_set(doc, object, "bytes", json_number(doc, r->totals.bytes));
    json_set(doc, object, "room", json_number(doc, r->room));
    json_set(doc, object, "left_out", json_number(doc, r->totals.left_out));
    json_set(doc, object, "made", json_number(doc, r->made));
    json_set(doc, object, "milliseconds", json_number(doc, r->duration));
    json_set(doc, object, "launches", json_number(doc, item->launches));
    json_set(doc, object, "used", json_number_signed(doc, item->used));
    json_set(doc, object, "compared", json_number_signed(doc, item->checked));
    json_set(doc, object, "pinned", json_bool(doc, item->pinned));
    return object;
}

void stage_report_json(const struct stage_report *report, struct json_doc *doc, struct json *object)
{
    struct json *caches = json_set(doc, object, "caches", json_array(doc));

    for (size_t i = 0; i < report->count; i++) {
        const struct stage_report_cache *c = &report->list[i];
        struct json *cache = json_append(doc, caches, json_object(doc));
        json_set(doc, cache, "cache", json_string(doc, c->rules->cache.text));
        json_set(doc, cache, "room", json_number(doc, c->bytes));
        if (c->problem)
            json_set(doc, cache, "problem", json_string(doc, c->problem));
        struct json *items = json_set(doc, cache, "copies", json_array(doc));
        for (size_t k = 0; k < c->items.count; k++)
            json_append(doc, items, item_json(&c->items.list[k], doc));
    }
}
