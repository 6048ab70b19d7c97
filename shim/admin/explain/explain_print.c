/* An explanation as text and as JSON. */
#include "shim/admin/explain/explain.h"

#include "base/cli/columns.h"

#include <string.h>

/* ---- for people ---- */

static void put_id(struct buf *out, const struct id_pair *id, const char *name)
{
    if (!id->known) {
        buf_puts(out, "not known: ");
        buf_put_printable(out, id->why, strlen(id->why));
        return;
    }
    if (name) {
        buf_put_printable(out, name, strlen(name));
        buf_putc(out, ' ');
    }
    buf_printf(out, name ? "(%u:%u)" : "%u:%u", (unsigned)id->uid, (unsigned)id->gid);
}

static void put_files(struct buf *out, const struct policy *policy)
{
    for (size_t i = 0; i < policy->file_count; i++) {
        buf_puts(out, i ? ", " : "");
        buf_put_printable(out, policy->files[i].path, strlen(policy->files[i].path));
    }
    if (!policy->file_count)
        buf_puts(out, "none");
}

static void put_head(struct buf *out, const struct explanation *e)
{
    struct id_pair process = identity_process(&e->spec);

    buf_puts(out, "container   ");
    buf_put_printable(out, e->id, strlen(e->id));
    buf_puts(out, "\nconfig      ");
    buf_put_printable(out, e->config, strlen(e->config));
    buf_puts(out, "\npolicy      ");
    put_files(out, e->policy);
    if (e->judgement.profile)
        buf_printf(out, "\nprofile     %s", e->judgement.profile->name);
    buf_printf(out, "\nmode        %s\nbelongs to  ", policy_mode_names[e->policy->mode]);
    put_id(out, &e->owner, e->owner_name);
    buf_puts(out, "\nruns as     ");
    put_id(out, &process, NULL);
    buf_puts(out, process.known ? " on the host\n\n" : "\n\n");
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
    enum { COLUMNS = 7 };
    _cleanup_free_ struct columns_row *rows = calloc(e->op_count + 1, sizeof(*rows));
    _cleanup_free_ char **whats = calloc(e->op_count + 1, sizeof(*whats));
    bool complete = rows && whats;

    if (complete)
        rows[0] = (struct columns_row){
            .cells = {"VERDICT", "KIND", "SUBJECT", "WHAT", "ACCESS", "RULE", "WHY"}};
    for (size_t i = 0; complete && i < e->op_count; i++) {
        const struct description *d = &e->ops[i];
        whats[i] = describe_what(d);
        complete = whats[i] != NULL;
        rows[i + 1] = (struct columns_row){
            .cells = {d->verdict, d->kind, d->subject, whats[i], d->access, d->policy, d->reason},
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
    static const char *const verdicts[] = {"added", "kept", "downgraded", "denied", "skipped"};
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

int explain_print(const struct explanation *e, bool colour, size_t terminal, struct buf *out,
                  struct err *err)
{
    put_head(out, e);
    if (!e->judged) {
        buf_puts(out, "allowed: nothing of it is judged\n");
        return buf_check(out, err);
    }
    if (e->op_count) {
        if (put_table(out, e, colour, terminal, err) < 0)
            return -1;
        buf_putc(out, '\n');
    }
    if (colour)
        buf_puts(out, e->refused ? "\033[31m" : "\033[32m");
    buf_puts(out, e->refused ? "refused" : "allowed");
    buf_puts(out, colour ? "\033[0m" : "");
    put_counts(out, e);
    if (e->policy->mode == POLICY_PERMISSIVE)
        buf_puts(out, " (permissive: what is denied is left out)");
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
    for (size_t i = 0; i < e->policy->file_count; i++)
        json_append(doc, files, json_string(doc, e->policy->files[i].path));
    for (size_t i = 0; i < e->op_count; i++)
        json_append(doc, ops, describe_json(&e->ops[i], doc));
    json_set(doc, root, "container", json_string(doc, e->id));
    json_set(doc, root, "config", json_string(doc, e->config));
    json_set(doc, root, "policy", files);
    if (e->judgement.profile)
        json_set(doc, root, "profile", json_string(doc, e->judgement.profile->name));
    json_set(doc, root, "mode", json_string(doc, policy_mode_names[e->policy->mode]));
    json_set(doc, root, "owner", json_id(doc, &e->owner, e->owner_name));
    json_set(doc, root, "process", json_id(doc, &process, NULL));
    json_set(doc, root, "allowed", json_bool(doc, !e->refused));
    json_set(doc, root, "operations", ops);
    if (json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    return buf_check(out, err);
}
