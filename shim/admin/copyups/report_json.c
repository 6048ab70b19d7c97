#include "base/json/json.h"
#include "shim/admin/copyups/advice.h"
#include "shim/admin/copyups/report.h"
#include "shim/host/fd_path.h"

static void put_text(struct json_doc *doc, struct json *object, const char *key, const char *text)
{
    if (text)
        json_set(doc, object, key, json_string(doc, text));
}

static void put_number(struct json_doc *doc, struct json *object, const char *key, uint64_t number)
{
    json_set(doc, object, key, json_number(doc, number));
}

static struct json *sum_json(const struct tally_sum *sum, struct json_doc *doc)
{
    struct json *object = json_object(doc);

    put_number(doc, object, "files", sum->files);
    put_number(doc, object, "size", sum->size);
    put_number(doc, object, "bytes", sum->disk);
    return object;
}

static void put_sums(const struct tally *t, struct json *object, struct json_doc *doc)
{
    for (size_t i = 0; i < CHANGES; i++)
        json_set(doc, object, change_names[i], sum_json(&t->sums[i], doc));
    json_set(doc, object, "reflinked", sum_json(&t->reflinked, doc));
    put_number(doc, object, "whiteouts", t->whiteouts);
    put_number(doc, object, "opaque", t->opaque);
    put_number(doc, object, "directories", t->directories);
    put_number(doc, object, "directories_new", t->own);
    put_number(doc, object, "entries", t->entries);
    put_number(doc, object, "unread", t->unread);
}

static void put_layers(const struct copyups_report *r, struct json *object, struct json_doc *doc)
{
    struct json *list = json_set(doc, object, "layers", json_array(doc));
    char path[PATH_MAX];

    for (size_t i = 0; i < r->root->count; i++) {
        struct json *one = json_append(doc, list, sum_json(&r->tally->layers[i], doc));
        put_number(doc, one, "layer", r->root->count - i);
        if (fd_path(r->root->layers[i], path) == 0)
            put_text(doc, one, "directory", path);
        put_text(doc, one, "created_by", r->root->about[i].created_by);
    }
}

static void put_files(const struct copyups_report *r, struct json *object, struct json_doc *doc)
{
    struct json *list = json_set(doc, object, "files", json_array(doc));

    for (size_t i = 0; i < r->tally->file_count; i++) {
        const struct tally_file *f = &r->tally->files[i];
        struct json *one = json_append(doc, list, json_object(doc));
        put_text(doc, one, "path", f->path);
        put_text(doc, one, "change", change_names[f->change]);
        put_number(doc, one, "size", f->size);
        put_number(doc, one, "bytes", f->disk);
        put_number(doc, one, "shared", f->shared);
        put_number(doc, one, "layer", r->root->count - f->layer);
        if (f->layer < r->root->count)
            put_text(doc, one, "created_by", r->root->about[f->layer].created_by);
    }
}

static int put_directories(const struct copyups_report *r, struct json *object,
                           struct json_doc *doc, struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_buf_ struct buf snippet = BUF_INIT;
    size_t count = r->tally->largest_count;
    struct advice *advice = arena_alloc(&arena, (count + 1) * sizeof(*advice));
    struct json *list = json_set(doc, object, "largest", json_array(doc));

    if (!advice)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const struct tally_directory *d = &r->tally->largest[i];
        if (advice_on(d, r->policy, &arena, &advice[i], err) < 0)
            return -1;
        struct json *one = json_append(doc, list, sum_json(&d->sum, doc));
        put_text(doc, one, "path", d->path);
        put_number(doc, one, "image_bytes", d->hidden);
        put_text(doc, one, "what", advice[i].what);
        put_text(doc, one, "volume", advice[i].volume);
        put_text(doc, one, "advice", advice[i].say);
    }
    advice_snippet(advice, count, "", &snippet);
    put_text(doc, object, "snippet", snippet.data);
    return buf_check(&snippet, err);
}

int copyups_json(const struct copyups_report *report, struct buf *out, struct err *err)
{
    const struct container_found *c = report->container;
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *object = json_root(doc);
    put_text(doc, object, "engine", container_engine_names[c->engine]);
    put_text(doc, object, "id", c->id);
    put_text(doc, object, "name", c->name);
    put_text(doc, object, "image", c->image);
    json_set(doc, object, "running", json_bool(doc, c->running));
    put_text(doc, object, "upper", report->root->upper_path);
    put_number(doc, object, "bytes", report->tally->disk);
    put_sums(report->tally, object, doc);
    put_layers(report, object, doc);
    put_files(report, object, doc);
    return put_directories(report, object, doc, err) < 0 ? -1 : json_write(doc, out, err);
}
