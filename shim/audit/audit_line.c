/* A decision as a line of JSON. */
#include "shim/audit/audit.h"
#include "shim/plan/decision/describe.h"

#include <string.h>

/* Bytes that a line takes of a text and of a name, at most; and of a text, where it is too long. */
enum { TEXT = 1024, NAME = 256, LEAST_TEXT = 16 };

const char *const audit_verdict_names[] = {
    [AUDIT_ALLOWED] = "allowed", [AUDIT_CHANGED] = "changed", [AUDIT_DENIED] = "denied"};

/* A line that is being made, with its room. */
struct line {
    const struct audit_record *record;
    size_t text;       /* bytes of each text, at most */
    size_t member;     /* the same, in an operation */
    size_t operations; /* how many of them, at most */
    struct json_doc *doc;
};

/* Returns the text as a value. If it is too long, it is cut between two characters and ends with
 * "…". NULL without memory. */
static struct json *cut_text(struct json_doc *doc, const char *text, size_t most)
{
    size_t len = strnlen(text, most + 1);

    if (len <= most)
        return json_string_len(doc, text, len);
    for (len = most; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
        len--;
    _cleanup_free_ char *cut = strf("%.*s…", (int)len, text);
    return cut ? json_string(doc, cut) : NULL;
}

static void put_text(struct line *l, const char *key, const char *text)
{
    if (text)
        json_set(l->doc, json_root(l->doc), key, cut_text(l->doc, text, l->text));
}

static void put_name(struct line *l, const char *key, const char *name)
{
    if (name)
        json_set(l->doc, json_root(l->doc), key,
                 cut_text(l->doc, name, l->text < NAME ? l->text : NAME));
}

void audit_put_time(struct json_doc *doc, struct json *object, const struct timespec *time)
{
    char date[32], text[48];
    struct tm utc;

    if (!gmtime_r(&time->tv_sec, &utc) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc))
        return;
    snprintf(text, sizeof(text), "%s.%03ldZ", date, time->tv_nsec / (1000 * 1000));
    json_set(doc, object, "time", json_string(doc, text));
}

static void put_off(struct json_doc *doc, unsigned off)
{
    struct json *list = off ? json_set(doc, json_root(doc), "off", json_array(doc)) : NULL;

    for (size_t i = 0; list && i < POLICY_OPT_OUTS; i++)
        if (off & 1u << i)
            json_append(doc, list, json_string(doc, policy_opt_out_names[i]));
}

static void put_head(struct line *l)
{
    const struct audit_record *r = l->record;

    audit_put_time(l->doc, json_root(l->doc), &r->time);
    put_name(l, "verdict", audit_verdict_names[r->verdict]);
    put_name(l, "command", r->command);
    put_name(l, "container", r->container);
    put_name(l, "engine", r->engine);
    put_name(l, "image", r->image);
    put_name(l, "namespace", r->namespace_name);
    put_name(l, "user", r->user);
    if (r->uid_known)
        json_set(l->doc, json_root(l->doc), "uid", json_number(l->doc, r->uid));
    if (r->process.known)
        json_set(l->doc, json_root(l->doc), "process_uid", json_number(l->doc, r->process.uid));
    put_text(l, "bundle", r->bundle);
    put_name(l, "mode", policy_mode_names[r->mode]);
    put_name(l, "profile", r->profile);
    put_off(l->doc, r->off);
    put_text(l, "error", r->error);
    put_text(l, "warning", r->warning);
    if (r->least_free) {
        put_name(l, "alert", "store_free");
        json_set(l->doc, json_root(l->doc), "value", json_number(l->doc, r->free));
        json_set(l->doc, json_root(l->doc), "limit", json_number(l->doc, r->least_free));
    }
}

static void cut_members(struct line *l, struct json *object)
{
    for (size_t i = 0; i < json_count(object); i++) {
        const char *text = json_text(object->members[i].value);
        if (text && strlen(text) > l->member)
            json_set(l->doc, object, object->members[i].key, cut_text(l->doc, text, l->member));
    }
}

/* Adds the operations that are denied, or those that are not, while there is room for more. */
static int put_operations(struct line *l, bool denied, size_t *left, struct arena *arena,
                          struct err *err)
{
    const struct decision *decision = l->record->decision;
    struct json *list = json_get(json_root(l->doc), "operations");
    struct description words;

    for (size_t i = 0; i < decision->count && *left; i++) {
        const struct outcome *o = &decision->list[i];
        if ((o->verdict == PLAN_DENIED) != denied)
            continue;
        if (describe_outcome(o, arena, &words, err) < 0)
            return -1;
        cut_members(l, json_append(l->doc, list, describe_json(&words, l->doc)));
        (*left)--;
    }
    return 0;
}

static int fill_line(struct line *l, struct err *err)
{
    const struct decision *decision = l->record->decision;
    _cleanup_arena_ struct arena arena = {0};
    size_t left = l->operations;

    put_head(l);
    if (!decision)
        return 0;
    json_set(l->doc, json_root(l->doc), "operations", json_array(l->doc));
    if (put_operations(l, true, &left, &arena, err) < 0 ||
        put_operations(l, false, &left, &arena, err) < 0)
        return -1;
    if (decision->count > l->operations)
        json_set(l->doc, json_root(l->doc), "operations_omitted",
                 json_number(l->doc, decision->count - l->operations));
    return 0;
}

/* Appends the line if it is no longer than `limit`. Returns 1 if it is longer. */
static int try_line(struct line *l, size_t limit, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    size_t start = out->len;

    l->doc = doc;
    if (!doc || fill_line(l, err) < 0 || json_write(doc, out, err) < 0)
        return -1;
    buf_putc(out, '\n');
    if (buf_check(out, err) < 0)
        return -1;
    if (out->len - start <= limit)
        return 0;
    buf_truncate(out, start);
    return 1;
}

/* Finds the longest texts that leave a quarter of the line to operations. */
static int fit_texts(struct line *l, size_t limit, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    size_t most = l->record->decision ? limit - limit / 4 : limit;

    for (l->operations = 0;; l->text /= 2) {
        int rc = try_line(l, most, &text, err);
        if (rc <= 0)
            return rc;
        if (l->text <= LEAST_TEXT)
            return err_set(err, ERR_LIMIT, "a record of more than %zu bytes", most);
    }
}

int audit_line(const struct audit_record *record, size_t limit, struct buf *out, struct err *err)
{
    struct line l = {.record = record, .text = TEXT, .member = TEXT};
    size_t fits = 0, beyond = record->decision ? record->decision->count + 1 : 1;

    if (beyond > AUDIT_OPERATIONS)
        beyond = AUDIT_OPERATIONS + 1;
    l.operations = beyond - 1;
    int rc = try_line(&l, limit, out, err);
    if (rc <= 0)
        return rc;
    if (fit_texts(&l, limit, err) < 0)
        return -1;
    l.member = l.text < NAME ? l.text : NAME;
    while (beyond - fits > 1) {
        _cleanup_buf_ struct buf trial = BUF_INIT;
        l.operations = fits + (beyond - fits) / 2;
        rc = try_line(&l, limit, &trial, err);
        if (rc < 0)
            return -1;
        *(rc ? &beyond : &fits) = l.operations;
    }
    l.operations = fits;
    return try_line(&l, limit, out, err) < 0 ? -1 : 0;
}
