/* A decision as a line of JSON. */
#include "shim/audit/audit.h"
#include "shim/plan/decision/describe.h"

#include <string.h>

enum { TEXT = 1024, NAME = 256 }; /* bytes that the line takes of a text and of a name, at most */

const char *const audit_verdict_names[] = {
    [AUDIT_ALLOWED] = "allowed", [AUDIT_CHANGED] = "changed", [AUDIT_DENIED] = "denied"};

static void put(struct json_doc *doc, const char *key, const char *text, size_t most)
{
    if (text)
        json_set(doc, json_root(doc), key, json_string_len(doc, text, strnlen(text, most)));
}

static void put_time(struct json_doc *doc, const struct timespec *time)
{
    char date[32], text[48];
    struct tm utc;

    if (!gmtime_r(&time->tv_sec, &utc) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc))
        return;
    snprintf(text, sizeof(text), "%s.%03ldZ", date, time->tv_nsec / (1000 * 1000));
    put(doc, "time", text, sizeof(text));
}

static void put_off(struct json_doc *doc, unsigned off)
{
    struct json *list = off ? json_set(doc, json_root(doc), "off", json_array(doc)) : NULL;

    for (size_t i = 0; list && i < POLICY_OPT_OUTS; i++)
        if (off & 1u << i)
            json_append(doc, list, json_string(doc, policy_opt_out_names[i]));
}

static void put_head(struct json_doc *doc, const struct audit_record *r)
{
    put_time(doc, &r->time);
    put(doc, "verdict", audit_verdict_names[r->verdict], NAME);
    put(doc, "command", r->command, NAME);
    put(doc, "container", r->container, NAME);
    put(doc, "engine", r->engine, NAME);
    put(doc, "image", r->image, NAME);
    put(doc, "namespace", r->namespace_name, NAME);
    put(doc, "user", r->user, NAME);
    if (r->uid_known)
        json_set(doc, json_root(doc), "uid", json_number(doc, r->uid));
    if (r->process.known)
        json_set(doc, json_root(doc), "process_uid", json_number(doc, r->process.uid));
    put(doc, "bundle", r->bundle, TEXT);
    put(doc, "mode", policy_mode_names[r->mode], NAME);
    put(doc, "profile", r->profile, NAME);
    put_off(doc, r->off);
    put(doc, "error", r->error, TEXT);
    put(doc, "warning", r->warning, TEXT);
}

/* Adds the operations that are denied, or those that are not, while there are any `left`. */
static int put_operations(struct json_doc *doc, const struct decision *decision, bool denied,
                          size_t *left, struct arena *arena, struct err *err)
{
    struct json *list = json_get(json_root(doc), "operations");
    struct description words;

    for (size_t i = 0; i < decision->count && *left; i++) {
        const struct outcome *o = &decision->list[i];
        if ((o->verdict == PLAN_DENIED) != denied)
            continue;
        if (describe_outcome(o, arena, &words, err) < 0)
            return -1;
        json_append(doc, list, describe_json(&words, doc));
        (*left)--;
    }
    return 0;
}

static int try_line(const struct audit_record *r, size_t most, struct buf *out, struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    size_t count = r->decision ? r->decision->count : 0, left = most;

    if (!doc)
        return -1;
    put_head(doc, r);
    if (r->decision) {
        json_set(doc, json_root(doc), "operations", json_array(doc));
        if (put_operations(doc, r->decision, true, &left, &arena, err) < 0 ||
            put_operations(doc, r->decision, false, &left, &arena, err) < 0)
            return -1;
    }
    if (count > most)
        json_set(doc, json_root(doc), "operations_omitted", json_number(doc, count - most));
    if (json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    return buf_check(out, err);
}

int audit_line(const struct audit_record *record, size_t limit, struct buf *out, struct err *err)
{
    size_t start = out->len, count = record->decision ? record->decision->count : 0;

    if (count > AUDIT_OPERATIONS)
        count = AUDIT_OPERATIONS;
    for (;;) {
        if (try_line(record, count, out, err) < 0)
            return -1;
        if (out->len - start <= limit)
            return 0;
        buf_truncate(out, start);
        if (!count)
            return err_set(err, ERR_LIMIT, "a record of more than %zu bytes", limit);
        count /= 2;
    }
}
