/* An alert for people and for programs, and the alerts from one run to the next. */
#include "shim/admin/monitor/alerts.h"

#include "base/human.h"

#include <string.h>

enum { NAME_SHOWN = 100, PATH_SHOWN = 200, STATE_BYTES = 16 * 1024 * 1024 };

static void put_advice(const struct alert *alert, struct buf *out)
{
    if (alert->kind == ALERT_STORE) {
        buf_puts(out, "; flatbed stale and the engine's prune list what can go");
        return;
    }
    if (alert->kind == ALERT_START) {
        buf_puts(out, "; its log tells how far it is");
        return;
    }
    buf_puts(out, "; flatbed copyups ");
    human_put_short(out, alert->name, NAME_SHOWN);
    buf_puts(out, " tells what it wrote");
}

static void put_amounts(const struct alert *alert, struct buf *out)
{
    static const char *const values[ALERTS] = {[ALERT_UPPER] = "its upper directory takes",
                                               [ALERT_COPYUP] = "copies of files of its image take",
                                               [ALERT_STORE] = "free room:"};
    char value[HUMAN_SIZE], limit[HUMAN_SIZE];

    if (alert->kind != ALERT_START)
        buf_printf(out, "%s %s, the limit is %s", values[alert->kind],
                   human_size_binary(alert->value, value), human_size_binary(alert->limit, limit));
    else if (alert->value)
        buf_printf(out, "its start %s %llu s, the limit is %llu s",
                   alert->change == ALERT_CLEARED ? "took" : "takes",
                   (unsigned long long)alert->value, (unsigned long long)alert->limit);
    else
        buf_puts(out, "it is ready");
}

void alert_describe(const struct alert *alert, struct buf *out)
{
    if (alert->kind == ALERT_STORE) {
        human_put_short(out, alert->store, PATH_SHOWN);
    } else {
        buf_printf(out, "%s container ", alert->engine);
        human_put_short(out, alert->name, NAME_SHOWN);
    }
    if (alert->gone) {
        buf_puts(out, ": it is no longer there, or has no limit any more");
        return;
    }
    buf_puts(out, ": ");
    put_amounts(alert, out);
    if (alert->change != ALERT_CLEARED)
        put_advice(alert, out);
}

/* ---- for programs ---- */

/* Adds the members that tell which alert it is. */
static void put_key(const struct alert *alert, struct json_doc *doc, struct json *object)
{
    json_set(doc, object, "alert", json_string(doc, alert_kind_names[alert->kind]));
    json_set(doc, object, "engine", json_string(doc, alert->engine));
    json_set(doc, object, "container", json_string(doc, alert->id));
    json_set(doc, object, "name", json_string(doc, alert->name));
    json_set(doc, object, "store", json_string(doc, alert->store));
    json_set(doc, object, "value", json_number(doc, alert->value));
    json_set(doc, object, "limit", json_number(doc, alert->limit));
}

void alert_put(const struct alert *alert, struct json_doc *doc, struct json *object)
{
    _cleanup_buf_ struct buf say = BUF_INIT;

    alert_describe(alert, &say);
    json_set(doc, object, "verdict", json_string(doc, alert_change_names[alert->change]));
    put_key(alert, doc, object);
    json_set(doc, object, "gone", json_bool(doc, alert->gone));
    json_set(doc, object, "say", say.failed ? NULL : json_string(doc, say.data));
}

int alerts_save(const struct alert_list *alerts, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    json_set(doc, json_root(doc), "time", json_number(doc, (uint64_t)alerts->time));
    struct json *list = json_set(doc, json_root(doc), "alerts", json_array(doc));
    for (size_t i = 0; i < alerts->count; i++)
        if (alerts->list[i].change != ALERT_CLEARED)
            put_key(&alerts->list[i], doc, json_append(doc, list, json_object(doc)));
    return json_write(doc, out, err);
}

/* ---- the run before ---- */

static bool load_kind(const struct json *one, enum alert_kind *out)
{
    const char *name = json_text(json_get(one, "alert"));

    for (int kind = 0; name && kind < ALERTS; kind++)
        if (strcmp(alert_kind_names[kind], name) == 0) {
            *out = (enum alert_kind)kind;
            return true;
        }
    return false;
}

static int load_one(const struct json *one, struct alert_list *out, struct err *err)
{
    struct alert alert = {.change = ALERT_HELD};
    struct {
        const char *key, **text;
    } texts[] = {{"engine", &alert.engine},
                 {"container", &alert.id},
                 {"name", &alert.name},
                 {"store", &alert.store}};

    if (!load_kind(one, &alert.kind) || !json_u64(json_get(one, "value"), &alert.value) ||
        !json_u64(json_get(one, "limit"), &alert.limit))
        return err_set(err, ERR_FORMAT, "an alert of the run before is malformed");
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        const char *text = json_text(json_get(one, texts[i].key));
        if (!text)
            return err_set(err, ERR_FORMAT, "an alert of the run before has no \"%s\"",
                           texts[i].key);
        *texts[i].text = arena_strndup(&out->arena, text, strlen(text));
        if (!*texts[i].text)
            return err_nomem(err);
    }
    out->list = arena_extend(&out->arena, out->list, out->count, sizeof(*out->list));
    if (!out->list)
        return err_nomem(err);
    out->list[out->count++] = alert;
    return 0;
}

int alerts_load(struct buf *text, struct alert_list *out, struct err *err)
{
    static const struct json_options options = {.max_bytes = STATE_BYTES};

    uint64_t time = 0;

    *out = (struct alert_list){0};
    if (text->len == 0)
        return 0;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(text, &options, err);
    const struct json *list = doc ? json_get(json_root(doc), "alerts") : NULL;
    if (!doc)
        return -1;
    (void)json_u64(json_get(json_root(doc), "time"), &time);
    out->time = (time_t)time;
    for (size_t i = 0; i < json_count(list); i++)
        if (load_one(json_at(list, i), out, err) < 0)
            return -1;
    return 0;
}
