#include "shim/admin/zfs/store/output.h"

#include "base/cli/columns.h"
#include "base/human.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INDENT = 2, DATE = 20 };

/* ---- for people ---- */

static void put_reasons(const struct zfs_advices *advices, size_t terminal, struct buf *out)
{
    size_t wrong = 0;

    for (size_t i = 0; i < advices->count; i++) {
        const struct zfs_advice *a = &advices->list[i];
        if (a->of.weight == ZFS_RIGHT)
            continue;
        buf_puts(out, wrong++ ? "\n" : "\nWhat is set applies to what is written afterwards:\n\n");
        buf_put_printable(out, a->set, strlen(a->set));
        buf_puts(out, "\n  ");
        columns_fold(a->of.why, INDENT, terminal, out);
        buf_putc(out, '\n');
    }
    if (wrong == 0)
        buf_puts(out, "\nAll of it is right.\n");
}

void zfs_put_advice(const struct zfs_advices *advices, size_t terminal, struct buf *out)
{
    struct columns_row *rows = calloc(advices->count + 1, sizeof(*rows));

    if (!rows) {
        out->failed = true;
        return;
    }
    rows[0] = (struct columns_row){{"DATASET", "USE", "PROPERTY", "IS", "SHOULD BE"}, NULL};
    for (size_t i = 0; i < advices->count; i++) {
        const struct zfs_advice *a = &advices->list[i];
        bool right = a->of.weight == ZFS_RIGHT;
        rows[i + 1] = (struct columns_row){{a->dataset, zfs_use_names[a->use], a->of.property,
                                            a->of.is, right ? "as it is" : a->of.should},
                                           NULL};
    }
    if (advices->count) {
        columns_print(rows, advices->count + 1, 5, terminal, out);
        put_reasons(advices, terminal, out);
    } else {
        buf_puts(out, "None of the paths lies on ZFS.\n");
    }
    free(rows);
}

static void put_snapshot(const char *dataset, const struct zfs_snapshot *s, size_t terminal,
                         struct buf *out)
{
    char used[HUMAN_SIZE], referenced[HUMAN_SIZE], date[DATE] = "";
    time_t when = (time_t)s->creation;
    struct tm tm;

    if (gmtime_r(&when, &tm))
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
    _cleanup_free_ char *text = strf("%s  %9s  %9s  %s@%s", date, human_size(s->used, used),
                                     human_size(s->referenced, referenced), dataset, s->name);
    columns_fold(text ? text : "", INDENT, terminal, out);
    buf_putc(out, '\n');
}

void zfs_put_snapshots(const struct zfs_stores *stores, const struct zfs_snapshots *lists,
                       size_t terminal, struct buf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < stores->count; i++)
        count += lists[i].count;
    if (count == 0) {
        buf_puts(out, "no snapshots\n");
        return;
    }
    buf_puts(out, "CREATED (UTC)             FREES       HOLDS  SNAPSHOT\n");
    for (size_t i = 0; i < stores->count; i++)
        for (size_t k = 0; k < lists[i].count; k++)
            put_snapshot(stores->list[i].dataset, &lists[i].list[k], terminal, out);
}

static void put_changed(const struct zfs_changed *c, size_t terminal, struct buf *out)
{
    static const char signs[] = {[ZFS_ADDED] = '+', [ZFS_REMOVED] = '-', [ZFS_MOVED] = '~'};
    bool layer = c->item->kind == ZFS_LAYER;
    bool named = strcmp(c->item->name, c->item->id) != 0;
    char size[HUMAN_SIZE];
    _cleanup_free_ char *text = strf("%s %9s  %s%s%s%s%s%s", layer ? "layer" : "image",
                                     layer ? human_size(c->item->bytes, size) : "", c->item->name,
                                     named ? " (" : "", c->was ? c->was : "", c->was ? " -> " : "",
                                     named ? c->item->id : "", named ? ")" : "");

    buf_printf(out, "%c ", signs[c->change]);
    columns_fold(text ? text : "", INDENT, terminal, out);
    buf_putc(out, '\n');
}

void zfs_put_reports(const struct zfs_report *reports, size_t count, size_t terminal,
                     struct buf *out)
{
    char added[HUMAN_SIZE], removed[HUMAN_SIZE], written[HUMAN_SIZE];

    for (size_t i = 0; i < count; i++) {
        const struct zfs_report *r = &reports[i];
        _cleanup_free_ char *title = strf("%s%s%s to %s", r->store ? r->store : "",
                                          r->store ? ": " : "", r->from, r->to ? r->to : "now");
        columns_fold(title ? title : "", INDENT, terminal, out);
        buf_putc(out, '\n');
        for (size_t k = 0; k < r->difference.count; k++)
            put_changed(&r->difference.list[k], terminal, out);
        buf_printf(out, "layers added: %s, removed: %s, before compression",
                   human_size(r->difference.added, added),
                   human_size(r->difference.removed, removed));
        if (r->knows_written)
            buf_printf(out, "; written to the dataset since: %s", human_size(r->written, written));
        buf_putc(out, '\n');
    }
}

/* ---- as JSON ---- */

static int finish(struct json_doc *doc, struct buf *out, struct err *err)
{
    if (json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    return buf_check(out, err);
}

static void put_text(struct json_doc *doc, struct json *object, const char *key, const char *text)
{
    if (text)
        json_set(doc, object, key, json_string(doc, text));
}

int zfs_json_advice(const struct zfs_advices *advices, struct buf *out, struct err *err)
{
    static const char *const weights[] = {"ok", "advice", "warning", "error"};
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *list = json_set(doc, json_root(doc), "advice", json_array(doc));
    for (size_t i = 0; i < advices->count; i++) {
        const struct zfs_advice *a = &advices->list[i];
        struct json *one = json_append(doc, list, json_object(doc));
        put_text(doc, one, "level", weights[a->of.weight]);
        put_text(doc, one, "dataset", a->dataset);
        put_text(doc, one, "path", a->path);
        put_text(doc, one, "use", zfs_use_names[a->use]);
        put_text(doc, one, "property", a->of.property);
        put_text(doc, one, "is", a->of.is);
        put_text(doc, one, "should", a->of.should);
        put_text(doc, one, "why", a->of.why);
        put_text(doc, one, "set", a->of.weight == ZFS_RIGHT ? NULL : a->set);
    }
    struct json *left = json_set(doc, json_root(doc), "left_out", json_array(doc));
    for (size_t i = 0; i < advices->problem_count; i++) {
        struct json *one = json_append(doc, left, json_object(doc));
        put_text(doc, one, "path", advices->problems[i].path);
        put_text(doc, one, "why", advices->problems[i].why);
    }
    return finish(doc, out, err);
}

int zfs_json_snapshots(const struct zfs_stores *stores, const struct zfs_snapshots *lists,
                       struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *list = json_set(doc, json_root(doc), "snapshots", json_array(doc));
    for (size_t i = 0; i < stores->count; i++)
        for (size_t k = 0; k < lists[i].count; k++) {
            const struct zfs_snapshot *s = &lists[i].list[k];
            struct json *one = json_append(doc, list, json_object(doc));
            put_text(doc, one, "store", stores->list[i].path);
            put_text(doc, one, "dataset", stores->list[i].dataset);
            put_text(doc, one, "name", s->name);
            json_set(doc, one, "created", json_number(doc, s->creation));
            json_set(doc, one, "used", json_number(doc, s->used));
            json_set(doc, one, "referenced", json_number(doc, s->referenced));
        }
    return finish(doc, out, err);
}

static void add_changed(struct json_doc *doc, struct json *list, const struct zfs_changed *c)
{
    struct json *one = json_append(doc, list, json_object(doc));
    bool layer = c->item->kind == ZFS_LAYER;

    put_text(doc, one, "change", zfs_change_names[c->change]);
    put_text(doc, one, "kind", layer ? "layer" : "image");
    put_text(doc, one, "name", c->item->name);
    put_text(doc, one, "id", c->item->id);
    put_text(doc, one, "was", c->was);
    if (layer)
        json_set(doc, one, "bytes", json_number(doc, c->item->bytes));
}

int zfs_json_reports(const struct zfs_report *reports, size_t count, struct buf *out,
                     struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *list = json_set(doc, json_root(doc), "stores", json_array(doc));
    for (size_t i = 0; i < count; i++) {
        const struct zfs_report *r = &reports[i];
        struct json *one = json_append(doc, list, json_object(doc));
        put_text(doc, one, "store", r->store);
        put_text(doc, one, "from", r->from);
        put_text(doc, one, "to", r->to);
        struct json *changes = json_set(doc, one, "changes", json_array(doc));
        for (size_t k = 0; k < r->difference.count; k++)
            add_changed(doc, changes, &r->difference.list[k]);
        json_set(doc, one, "added", json_number(doc, r->difference.added));
        json_set(doc, one, "removed", json_number(doc, r->difference.removed));
        if (r->knows_written)
            json_set(doc, one, "written", json_number(doc, r->written));
    }
    return finish(doc, out, err);
}
