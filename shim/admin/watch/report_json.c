#include "base/json/json.h"
#include "shim/admin/watch/report.h"

#include <stdio.h>

/* Sets a number with decimals. The writer of JSON has whole ones: they go through its reader. */
static void put_seconds(struct json_doc *doc, struct json *object, const char *key, double seconds)
{
    char text[64];
    struct err ignored;
    int len = snprintf(text, sizeof(text), "%.6f", seconds);
    _cleanup_json_ struct json_doc *number = json_parse(text, (size_t)len, NULL, &ignored);

    json_set(doc, object, key, number ? json_copy(doc, json_root(number)) : NULL);
}

static struct json *counts_json(const struct seen_counts *c, struct json_doc *doc)
{
    struct json *object = json_object(doc);

    json_set(doc, object, "lookups", json_number(doc, c->lookups));
    json_set(doc, object, "misses", json_number(doc, c->misses));
    for (int i = 0; i < WATCH_CALLS; i++)
        json_set(doc, object, watch_call_names[i], json_number(doc, c->calls[i]));
    return object;
}

static void put_entries(struct json_doc *doc, const char *key, const char *name,
                        struct seen_entry *const entries[], size_t count, bool layers)
{
    struct json *list = json_set(doc, json_root(doc), key, json_array(doc));

    for (size_t i = 0; i < count; i++) {
        const struct seen_entry *e = entries[i];
        struct json *one = json_append(doc, list, counts_json(&e->counts, doc));
        json_set(doc, one, name, json_string(doc, e->name));
        if (layers && e->layers) {
            json_set(doc, one, "layers", json_number(doc, e->layers));
            json_set(doc, one, "probes", json_number(doc, e->counts.lookups * e->layers));
        }
    }
}

static void put_container(const struct watch_report *r, struct json_doc *doc)
{
    struct json *root = json_root(doc);
    const struct container_found *c = r->container;

    json_set(doc, root, "engine", json_string(doc, container_engine_names[c->engine]));
    json_set(doc, root, "name", json_string(doc, c->name));
    json_set(doc, root, "id", json_string(doc, c->id));
    if (c->image)
        json_set(doc, root, "image", json_string(doc, c->image));
    if (r->layers)
        json_set(doc, root, "layers", json_number(doc, r->layers));
    put_seconds(doc, root, "seconds", r->seconds);
}

static void put_sums(const struct watch_report *r, struct json_doc *doc)
{
    const struct watch *w = r->watch;
    struct json *root = json_root(doc);

    json_set(doc, root, "by", json_string(doc, w->marks < 0 ? "tracepoints" : "fanotify"));
    if (w->why[0])
        json_set(doc, root, "opens_only", json_string(doc, w->why));
    json_set(doc, root, "all", counts_json(&w->seen.all, doc));
    json_set(doc, root, "lost", json_number(doc, w->lost));
    json_set(doc, root, "names_cut", json_number(doc, w->cut));
    json_set(doc, root, "other_directories", counts_json(&w->seen.directories.other, doc));
    json_set(doc, root, "other_programs", counts_json(&w->seen.programs.other, doc));
}

static void put_depth(const struct watch_report *r, struct json_doc *doc)
{
    struct watch_depth d = watch_depth(r);
    struct json *depth = json_set(doc, json_root(doc), "depth", json_object(doc));

    json_set(doc, depth, "lookups", json_number(doc, d.lookups));
    json_set(doc, depth, "probes", json_number(doc, d.probes));
    json_set(doc, depth, "probes_with_one_layer", json_number(doc, d.lookups));
    if (r->costs->known)
        put_seconds(doc, depth, "seconds_saved", d.saved);
}

int watch_json(const struct watch_report *r, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    put_container(r, doc);
    put_sums(r, doc);
    put_depth(r, doc);
    put_entries(doc, "directories", "directory", r->directories, r->directory_count, true);
    put_entries(doc, "programs", "program", r->programs, r->program_count, false);
    if (json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    return buf_check(out, err);
}
