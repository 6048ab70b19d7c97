/* An explanation as text and as JSON. */
#include "shim/admin/explain/explain.h"

#include "base/cli/columns.h"

#include <string.h>

/* ---- for people ---- */

static void put_id(struct buf *out, const struct id_pair *id, const char *name)
{
    if (!id->known)
        buf_printf(out, "not known: %s", id->why);
    else
        buf_printf(out, name ? "%s (%u:%u)" : "%s%u:%u", name ? name : "", (unsigned)id->uid,
                   (unsigned)id->gid);
}

static void put_files(struct buf *out, const struct policy *policy)
{
    for (size_t i = 0; i < policy->file_count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", policy->files[i].path);
    if (!policy->file_count)
        buf_puts(out, "none");
}

/* Appends "LABEL   TEXT" and a newline. */
static void put_line(struct buf *out, const char *label, const char *text, size_t terminal)
{
    enum { LABEL = 12 };

    buf_printf(out, "%-*s", LABEL, label);
    columns_fold(text, LABEL, terminal, out);
    buf_putc(out, '\n');
}

/* As put_line, for a text that was put together, which is freed. */
static void put_buffer_line(struct buf *out, const char *label, struct buf *text, size_t terminal)
{
    out->failed = out->failed || text->failed;
    put_line(out, label, text->data ? text->data : "", terminal);
    buf_free(text);
}

static void put_gpus(struct buf *out, const struct explanation *e, size_t terminal)
{
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < e->gpu_count; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", e->gpus[i]);
    if (e->gpu_count)
        put_buffer_line(out, "gpus", &text, terminal);
}

static void put_head(struct buf *out, const struct explanation *e, size_t terminal)
{
    struct id_pair process = identity_process(&e->spec);
    struct buf text = BUF_INIT;

    put_line(out, "container", e->id, terminal);
    put_line(out, "config", e->config, terminal);
    put_files(&text, e->policy);
    put_buffer_line(out, "policy", &text, terminal);
    if (e->judgement.profile)
        put_line(out, "profile", e->judgement.profile->name, terminal);
    put_line(out, "mode", policy_mode_names[e->policy->mode], terminal);
    put_id(&text, &e->owner, e->owner_name);
    put_buffer_line(out, "belongs to", &text, terminal);
    put_id(&text, &process, NULL);
    if (process.known)
        buf_puts(&text, " on the host");
    put_buffer_line(out, "runs as", &text, terminal);
    put_gpus(out, e, terminal);
    if (e->warm)
        put_line(out, "warm", e->warm, terminal);
    buf_putc(out, '\n');
}

static const char *colour_of(const char *verdict)
{
    static const struct {
        const char *verdict, *sgr;
    } colours[] = {{"added", "32"}, {"downgraded", "33"}, {"denied", "31"}, {"skipped", "33"}};

    for (size_t i = 0; i < sizeof(colours) / sizeof(*colours); i++)
        if (strcmp(colours[i].verdict, verdict) == 0)
            return colours[i].sgr;
    return NULL;
}

/* Returns "SOURCE → TARGET" or the value of a variable, to be freed; NULL without memory. */
static char *describe_what(const struct description *d)
{
    if (d->source && d->target)
        return strf("%s → %s", d->source, d->target);
    const char *one = d->source ? d->source : d->target ? d->target : d->value;
    return strdup(one ? one : "");
}

static int put_table(struct buf *out, const struct explanation *e, bool colour, size_t terminal,
                     struct err *err)
{
    enum { COLUMNS = 8 };
    _cleanup_free_ struct columns_row *rows = calloc(e->op_count + 1, sizeof(*rows));
    _cleanup_free_ char **whats = calloc(e->op_count + 1, sizeof(*whats));
    bool complete = rows && whats;

    if (complete)
        rows[0] = (struct columns_row){
            .cells = {"VERDICT", "KIND", "SUBJECT", "WHAT", "ACCESS", "RULE", "BY", "WHY"}};
    for (size_t i = 0; complete && i < e->op_count; i++) {
        const struct description *d = &e->ops[i];
        whats[i] = describe_what(d);
        complete = whats[i] != NULL;
        rows[i + 1] = (struct columns_row){.cells = {d->verdict, d->kind, d->subject, whats[i],
                                                     d->access, d->policy, e->by[i], d->reason},
                                           .colour = colour ? colour_of(d->verdict) : NULL};
    }
    if (complete)
        columns_print(rows, e->op_count + 1, COLUMNS, terminal, out);
    for (size_t i = 0; whats && i < e->op_count; i++)
        free(whats[i]);
    return complete ? 0 : err_nomem(err);
}

static void put_counts(struct buf *out, const struct explanation *e)
{
    static const char *const verdicts[] = {"added",  "kept",    "downgraded",
                                           "denied", "skipped", "checked"};
    bool first = true;

    for (size_t v = 0; v < sizeof(verdicts) / sizeof(*verdicts); v++) {
        size_t count = 0;
        for (size_t i = 0; i < e->op_count; i++)
            count += strcmp(e->ops[i].verdict, verdicts[v]) == 0;
        if (count)
            buf_printf(out, "%s%zu %s", first ? ": " : ", ", count, verdicts[v]);
        first = first && !count;
    }
}

/* Appends what the refusals leave: each text once. */
static void put_hints(struct buf *out, const struct explanation *e, size_t terminal)
{
    for (size_t i = 0; i < e->decision.count; i++) {
        const char *hint = decision_hint(&e->decision, i);
        if (!hint)
            continue;
        columns_fold(hint, 0, terminal, out);
        buf_putc(out, '\n');
    }
}

int explain_print(const struct explanation *e, bool colour, size_t terminal, struct buf *out,
                  struct err *err)
{
    put_head(out, e, terminal);
    if (!e->judged) {
        buf_puts(out, "allowed: nothing of it is judged\n");
        return buf_check(out, err);
    }
    if (e->op_count) {
        if (put_table(out, e, colour, terminal, err) < 0)
            return -1;
        buf_putc(out, '\n');
        put_hints(out, e, terminal);
    }
    if (colour)
        buf_puts(out, e->refused ? "\033[31m" : "\033[32m");
    buf_puts(out, e->refused ? "refused" : "allowed");
    buf_puts(out, colour ? "\033[0m" : "");
    put_counts(out, e);
    if (e->policy->mode == POLICY_PERMISSIVE)
        buf_puts(out, " (permissive: what is denied does not stop the container)");
    buf_putc(out, '\n');
    return buf_check(out, err);
}

/* ---- for machines ---- */

static struct json *json_id(struct json_doc *doc, const struct id_pair *id, const char *name)
{
    struct json *object = json_object(doc);

    if (!id->known) {
        json_set(doc, object, "unknown", json_string(doc, id->why));
        return object;
    }
    json_set(doc, object, "uid", json_number(doc, id->uid));
    json_set(doc, object, "gid", json_number(doc, id->gid));
    if (name)
        json_set(doc, object, "name", json_string(doc, name));
    return object;
}

int explain_json(const struct explanation *e, struct buf *out, struct err *err)
{
    struct id_pair process = identity_process(&e->spec);
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *root = json_root(doc), *files = json_array(doc), *ops = json_array(doc);
    struct json *hints = json_array(doc), *gpus = json_array(doc);
    for (size_t i = 0; i < e->policy->file_count; i++)
        json_append(doc, files, json_string(doc, e->policy->files[i].path));
    for (size_t i = 0; i < e->op_count; i++)
        json_set(doc, json_append(doc, ops, describe_json(&e->ops[i], doc)), "by",
                 json_string(doc, e->by[i]));
    for (size_t i = 0; i < e->decision.count; i++)
        if (decision_hint(&e->decision, i))
            json_append(doc, hints, json_string(doc, decision_hint(&e->decision, i)));
    for (size_t i = 0; i < e->gpu_count; i++)
        json_append(doc, gpus, json_string(doc, e->gpus[i]));
    json_set(doc, root, "container", json_string(doc, e->id));
    json_set(doc, root, "config", json_string(doc, e->config));
    json_set(doc, root, "policy", files);
    if (e->judgement.profile)
        json_set(doc, root, "profile", json_string(doc, e->judgement.profile->name));
    json_set(doc, root, "mode", json_string(doc, policy_mode_names[e->policy->mode]));
    json_set(doc, root, "owner", json_id(doc, &e->owner, e->owner_name));
    json_set(doc, root, "process", json_id(doc, &process, NULL));
    json_set(doc, root, "allowed", json_bool(doc, !e->refused));
    json_set(doc, root, "gpus", gpus);
    if (e->warm)
        json_set(doc, root, "warm", json_string(doc, e->warm));
    json_set(doc, root, "operations", ops);
    json_set(doc, root, "hints", hints);
    if (json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    return buf_check(out, err);
}
