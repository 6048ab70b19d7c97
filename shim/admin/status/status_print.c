#include "shim/admin/status/status.h"

#include "base/cli/columns.h"
#include "base/human.h"
#include "base/json/json.h"

enum { COLUMN = 12 }; /* of the text behind a word */

/* Appends a line: a word, and a text that is folded behind it. Clears the text. */
static void put_line(const char *word, struct buf *text, size_t terminal, struct buf *out)
{
    buf_printf(out, "%-*s", COLUMN, word);
    columns_fold(text->data ? text->data : "", COLUMN, terminal, out);
    buf_putc(out, '\n');
    buf_truncate(text, 0);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void put_policy(const struct status *s, struct buf *text)
{
    if (!s->policy.path) {
        buf_puts(text, "none: containers start as if without flatbed-runtime; flatbed-policy(5) "
                       "has an example");
    } else if (s->policy.problem) {
        buf_printf(text, "no container can start: %s", s->policy.problem);
    } else {
        buf_printf(text, "%s (mode %s, %zu file%s), %zu error%s, %zu warning%s", s->policy.path,
                   policy_mode_names[s->policy.mode], s->policy.files, plural(s->policy.files),
                   s->policy.errors, plural(s->policy.errors), s->policy.warnings,
                   plural(s->policy.warnings));
        if (s->policy.errors + s->policy.warnings)
            buf_puts(text, "; 'flatbed check' shows them");
    }
}

static void put_engine(const struct status_engine *e, struct buf *text)
{
    if (!e->runtime) {
        buf_puts(text, "does not know flatbed-runtime");
        return;
    }
    buf_printf(text, "%s is %s, %s", e->runtime, e->program,
               e->is_default ? "the default" : "for those who ask for it");
    for (size_t i = 0; i < e->around_count; i++)
        buf_printf(text, "%s%s", i ? ", " : "; goes around it: ", e->around[i]);
}

static void put_restack(const struct status *s, struct buf *text)
{
    char size[HUMAN_SIZE];

    if (s->restack.problem)
        buf_puts(text, s->restack.problem);
    else if (!s->restack.trees)
        buf_puts(text, "no trees");
    else
        buf_printf(text, "%zu tree%s, %s in %s", s->restack.trees, plural(s->restack.trees),
                   human_size(s->restack.bytes, size), s->restack.cache);
}

static void put_stage(const struct status *s, struct buf *text)
{
    char size[HUMAN_SIZE];

    buf_printf(text, "%zu cop%s, %s", s->stage.copies, s->stage.copies == 1 ? "y" : "ies",
               human_size(s->stage.bytes, size));
    if (s->stage.problem)
        buf_printf(text, "; %s", s->stage.problem);
}

static void put_warm(const struct status *s, struct buf *text)
{
    char size[HUMAN_SIZE];

    if (s->warm.problem)
        buf_puts(text, s->warm.problem);
    else
        buf_printf(text, "%zu record%s, %s in all; %zu off", s->warm.records,
                   plural(s->warm.records), human_size_binary(s->warm.bytes, size), s->warm.off);
}

void status_print(const struct status *status, size_t terminal, struct buf *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    buf_puts(&text, FLATBED_VERSION);
    put_line("flatbed", &text, terminal, out);
    put_policy(status, &text);
    put_line("policy", &text, terminal, out);
    for (size_t i = 0; i < status->engine_count; i++) {
        put_engine(&status->engines[i], &text);
        put_line(status->engines[i].name, &text, terminal, out);
    }
    put_restack(status, &text);
    put_line("restack", &text, terminal, out);
    if (status->stage.caches) {
        put_stage(status, &text);
        put_line("stage", &text, terminal, out);
    }
    if (status->warm.cache) {
        put_warm(status, &text);
        put_line("warm", &text, terminal, out);
    }
}

/* ---- for programs ---- */

static struct json *policy_json(const struct status *s, struct json_doc *doc)
{
    struct json *object = json_object(doc);

    if (!s->policy.path)
        return object;
    json_set(doc, object, "path", json_string(doc, s->policy.path));
    if (s->policy.problem) {
        json_set(doc, object, "problem", json_string(doc, s->policy.problem));
        return object;
    }
    json_set(doc, object, "mode", json_string(doc, policy_mode_names[s->policy.mode]));
    json_set(doc, object, "files", json_number(doc, s->policy.files));
    json_set(doc, object, "errors", json_number(doc, s->policy.errors));
    json_set(doc, object, "warnings", json_number(doc, s->policy.warnings));
    return object;
}

static struct json *engine_json(const struct status_engine *e, struct json_doc *doc)
{
    struct json *object = json_object(doc), *around = json_array(doc);

    json_set(doc, object, "engine", json_string(doc, e->name));
    if (e->runtime) {
        json_set(doc, object, "runtime", json_string(doc, e->runtime));
        json_set(doc, object, "program", json_string(doc, e->program));
    }
    json_set(doc, object, "default", json_bool(doc, e->is_default));
    for (size_t i = 0; i < e->around_count; i++)
        json_append(doc, around, json_string(doc, e->around[i]));
    json_set(doc, object, "around", around);
    return object;
}

static struct json *restack_json(const struct status *s, struct json_doc *doc)
{
    struct json *object = json_object(doc);

    if (s->restack.problem)
        json_set(doc, object, "problem", json_string(doc, s->restack.problem));
    if (s->restack.cache)
        json_set(doc, object, "cache", json_string(doc, s->restack.cache));
    json_set(doc, object, "trees", json_number(doc, s->restack.trees));
    json_set(doc, object, "bytes", json_number(doc, s->restack.bytes));
    return object;
}

static struct json *stage_json(const struct status *s, struct json_doc *doc)
{
    struct json *object = json_object(doc);

    if (s->stage.problem)
        json_set(doc, object, "problem", json_string(doc, s->stage.problem));
    json_set(doc, object, "caches", json_number(doc, s->stage.caches));
    json_set(doc, object, "copies", json_number(doc, s->stage.copies));
    json_set(doc, object, "bytes", json_number(doc, s->stage.bytes));
    return object;
}

static struct json *warm_json(const struct status *s, struct json_doc *doc)
{
    struct json *object = json_object(doc);

    if (s->warm.problem)
        json_set(doc, object, "problem", json_string(doc, s->warm.problem));
    json_set(doc, object, "cache", json_string(doc, s->warm.cache));
    json_set(doc, object, "records", json_number(doc, s->warm.records));
    json_set(doc, object, "off", json_number(doc, s->warm.off));
    json_set(doc, object, "bytes", json_number(doc, s->warm.bytes));
    return object;
}

int status_json(const struct status *status, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *root = json_root(doc), *engines = json_array(doc);
    for (size_t i = 0; i < status->engine_count; i++)
        json_append(doc, engines, engine_json(&status->engines[i], doc));
    json_set(doc, root, "version", json_string(doc, FLATBED_VERSION));
    json_set(doc, root, "policy", policy_json(status, doc));
    json_set(doc, root, "engines", engines);
    json_set(doc, root, "restack", restack_json(status, doc));
    json_set(doc, root, "stage", stage_json(status, doc));
    if (status->warm.cache)
        json_set(doc, root, "warm", warm_json(status, doc));
    if (json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    return 0;
}
