#include "shim/admin/warm/warm_report.h"

#include "base/cli/columns.h"
#include "base/human.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* ---- reading ---- */

struct reading {
    const struct warm_store *store;
    struct arena *arena;
    struct warm_report *out;
};

static int take_record(const char *key, int64_t used, void *ctx, struct err *err)
{
    struct reading *r = ctx;
    struct warm_report *out = r->out;
    struct err why = ERR_INIT;

    out->list = arena_extend(r->arena, out->list, out->count, sizeof(*out->list));
    if (!out->list)
        return err_nomem(err);
    struct warm_item *item = &out->list[out->count];
    *item = (struct warm_item){.used = used, .record = {.image = "", .off = "", .of = ""}};
    snprintf(item->key, sizeof(item->key), "%s", key);
    if (warm_store_read(r->store, key, NULL, r->arena, &item->record, &why) < 0) {
        if (err_missing(&why))
            return 0; /* being made */
        item->record = (struct warm_record){.image = "", .off = "", .of = ""};
        item->problem = arena_strndup(r->arena, why.msg, strlen(why.msg));
        if (!item->problem)
            return err_nomem(err);
    }
    out->bytes += item->record.bytes;
    out->count++;
    return 0;
}

static int read_store(const struct warm_store *store, struct arena *arena, struct warm_report *out,
                      struct err *err)
{
    struct reading r = {store, arena, out};

    return warm_store_each(store, take_record, &r, err);
}

int warm_report_read(const char *path, struct arena *arena, struct warm_report *out,
                     struct err *err)
{
    _cleanup_warm_store_ struct warm_store store = WARM_STORE_INIT;
    int found = warm_store_find(path, &store, err);

    *out = (struct warm_report){0};
    return found > 0 ? read_store(&store, arena, out, err) : found;
}

/* ---- trimming ---- */

/* Returns the reason to remove a record, or NULL. */
static const char *reason_to_leave(const struct warm_item *item, int64_t seconds,
                                   struct arena *arena)
{
    struct warm_place place;
    struct err why = ERR_INIT;

    if (item->problem)
        return "it cannot be read";
    if (warm_place_parse(item->record.of, arena, &place, &why) < 0)
        return arena_strndup(arena, why.msg, strlen(why.msg));
    return time(NULL) - item->used > seconds ? "it was not used for long" : NULL;
}

int warm_report_trim(const char *path, int64_t seconds, bool dry, struct arena *arena,
                     struct warm_report *out, struct err *err)
{
    _cleanup_warm_store_ struct warm_store store = WARM_STORE_INIT;
    int found = warm_store_find(path, &store, err);

    *out = (struct warm_report){0};
    if (found <= 0)
        return found;
    if (read_store(&store, arena, out, err) < 0)
        return -1;
    for (size_t i = 0; i < out->count; i++) {
        struct warm_item *item = &out->list[i];
        item->leaves = reason_to_leave(item, seconds, arena);
        if (item->leaves && !dry && warm_store_remove(&store, item->key, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- for people ---- */

static const char *time_text(int64_t seconds, struct arena *arena)
{
    time_t when = seconds;
    struct tm local;
    char text[32];

    if (!localtime_r(&when, &local) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local))
        return "";
    return arena_strndup(arena, text, strlen(text));
}

static const char *gain_text(const struct warm_record *r, struct arena *arena)
{
    if (*r->off)
        return "off";
    return r->judged ? arena_printf(arena, "%" PRIu64 " %%", r->gain) : NULL;
}

static bool is_volume(const struct warm_record *r)
{
    return strncmp(r->of, "flatbed volume", 14) == 0;
}

/* Returns the name of the place: the image, the volume, or the topmost layer. */
static const char *name_of(const struct warm_record *r, struct arena *arena)
{
    return *r->image ? r->image : warm_place_first(r->of, arena);
}

static int fill_row(const struct warm_item *item, struct arena *arena, struct columns_row *row,
                    struct err *err)
{
    const struct warm_record *r = &item->record;
    char size[HUMAN_SIZE];

    human_size_binary(r->bytes, size);
    *row = (struct columns_row){
        .cells = {is_volume(r) ? "volume" : "image", arena_printf(arena, "%zu", r->count),
                  arena_strndup(arena, size, strlen(size)), gain_text(r, arena),
                  r->recorded ? time_text((int64_t)r->recorded, arena) : NULL,
                  time_text(item->used, arena), item->problem ? item->problem : name_of(r, arena)}};
    return row->cells[1] && row->cells[2] && row->cells[5] && row->cells[6] ? 0 : err_nomem(err);
}

int warm_report_print(const struct warm_report *report, size_t terminal, struct arena *arena,
                      struct buf *out, struct err *err)
{
    enum { COLUMNS = 7 };
    struct columns_row *rows = arena_alloc(arena, (report->count + 1) * sizeof(*rows));

    if (!rows)
        return err_nomem(err);
    rows[0] = (struct columns_row){
        .cells = {"KIND", "FILES", "READ AHEAD", "GAIN", "RECORDED", "USED", "PLACE"}};
    for (size_t i = 0; i < report->count; i++)
        if (fill_row(&report->list[i], arena, &rows[i + 1], err) < 0)
            return -1;
    columns_print(rows, report->count + 1, COLUMNS, terminal, out);
    return 0;
}

void warm_report_print_one(const struct warm_record *r, struct buf *out)
{
    char size[HUMAN_SIZE];

    buf_printf(out, "%s in %zu file%s", human_size_binary(r->bytes, size), r->count,
               human_s(r->count));
    if (!r->whole)
        buf_puts(out, "; not complete, the next cold start is recorded");
    if (*r->off)
        buf_printf(out, "; off: %s", r->off);
    else if (r->judged)
        buf_printf(out, "; the last cold start was spared %" PRIu64 " %% of its reads", r->gain);
    buf_putc(out, '\n');
    for (size_t i = 0; i < r->count; i++) {
        buf_printf(out, "%10s  ", human_size_binary(warm_file_bytes(&r->files[i]), size));
        buf_put_printable(out, r->files[i].path, strlen(r->files[i].path));
        buf_putc(out, '\n');
    }
}

/* ---- for programs ---- */

static struct json *files_json(const struct warm_record *r, struct json_doc *doc)
{
    struct json *files = json_array(doc);

    for (size_t i = 0; i < r->count; i++) {
        const struct warm_file *f = &r->files[i];
        struct json *file = json_append(doc, files, json_object(doc));
        json_set(doc, file, "path", json_string(doc, f->path));
        json_set(doc, file, "layer", json_number(doc, f->layer));
        json_set(doc, file, "bytes", json_number(doc, warm_file_bytes(f)));
    }
    return files;
}

struct json *warm_report_json(const struct warm_item *item, bool files, struct json_doc *doc)
{
    const struct warm_record *r = &item->record;
    _cleanup_arena_ struct arena arena = {0};
    struct json *object = json_object(doc);
    const char *first = warm_place_first(r->of, &arena);

    json_set(doc, object, "key", json_string(doc, item->key));
    json_set(doc, object, "kind", json_string(doc, is_volume(r) ? "volume" : "image"));
    if (*r->image)
        json_set(doc, object, "image", json_string(doc, r->image));
    if (first && *first)
        json_set(doc, object, "directory", json_string(doc, first));
    if (item->problem)
        json_set(doc, object, "problem", json_string(doc, item->problem));
    json_set(doc, object, "recorded", json_number(doc, r->recorded));
    json_set(doc, object, "used", json_number(doc, (uint64_t)item->used));
    json_set(doc, object, "whole", json_bool(doc, r->whole));
    json_set(doc, object, "bytes", json_number(doc, r->bytes));
    json_set(doc, object, "count", json_number(doc, r->count));
    json_set(doc, object, "judged", json_number(doc, r->judged));
    if (r->judged)
        json_set(doc, object, "gain", json_number(doc, r->gain));
    if (*r->off)
        json_set(doc, object, "off", json_string(doc, r->off));
    if (item->leaves)
        json_set(doc, object, "leaves", json_string(doc, item->leaves));
    if (files)
        json_set(doc, object, "files", files_json(r, doc));
    return object;
}
