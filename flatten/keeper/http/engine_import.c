#include "flatten/keeper/http/engine_internal.h"

#include <string.h>

/* ---- the kind of the daemon ---- */

/* True for dockerd: other programs speak its API, but load and import as they like. */
static bool is_dockerd(const struct json *version)
{
    const struct json *parts = json_get(version, "Components");

    for (size_t i = 0; i < json_count(parts); i++) {
        const char *name = json_text(json_get(json_at(parts, i), "Name"));
        if (name && strcmp(name, "Engine") == 0)
            return true;
    }
    return false;
}

bool engine_has_snapshotter(const struct json *info)
{
    static const char store[] = "io.containerd.snapshotter";
    const struct json *pairs = json_get(info, "DriverStatus");

    for (size_t i = 0; i < json_count(pairs); i++) {
        const char *value = json_text(json_at(json_at(pairs, i), 1));
        if (value && strncmp(value, store, sizeof(store) - 1) == 0)
            return true;
    }
    return false;
}

int engine_has_graph_driver(struct engine *e, struct err *err)
{
    struct engine_request r = {.engine = e};
    long status;
    _cleanup_json_ struct json_doc *version = engine_ask(&r, "/version", &status, err);

    if (!version)
        return -1;
    if (!is_dockerd(json_root(version)))
        return 0;
    _cleanup_json_ struct json_doc *info = engine_ask(&r, "/info", &status, err);
    if (!info)
        return -1;
    return json_text(json_get(json_root(info), "Driver")) &&
           !engine_has_snapshotter(json_root(info));
}

/* ---- images without a name ---- */

int engine_import(struct engine *e, const struct engine_import *import, struct digest *id,
                  struct err *err)
{
    const struct http_body body = {.read = import->read, .ctx = import->ctx};
    _cleanup_engine_reply_ struct engine_reply reply = {0};
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_puts(&path, "/images/create?fromSrc=-&message=");
    http_put_escaped(&path, import->message);
    buf_puts(&path, "&changes=LABEL%20");
    http_put_escaped(&path, import->label);
    if (buf_check(&path, err) < 0 || engine_upload(e, path.data, &body, &reply, err) < 0)
        return -1;
    if (!reply.id.text[0])
        return err_set(err, ERR_FORMAT, "the daemon does not say which image it has imported");
    *id = reply.id;
    return 0;
}

struct json_doc *engine_list_labelled(struct engine *e, const char *label, struct err *err)
{
    struct engine_request r = {.engine = e, .goes_on = true};
    _cleanup_buf_ struct buf filters = BUF_INIT, path = BUF_INIT;
    long status;

    buf_printf(&filters, "{\"dangling\":[\"true\"],\"label\":[\"%s\"]}", label);
    buf_puts(&path, "/images/json?filters=");
    http_put_escaped(&path, filters.data ? filters.data : "");
    if (buf_check(&filters, err) < 0 || buf_check(&path, err) < 0)
        return NULL;
    return engine_ask(&r, path.data, &status, err);
}

int engine_remove(struct engine *e, const char *id, struct err *err)
{
    struct engine_request r = {.engine = e, .method = "DELETE", .goes_on = true};
    _cleanup_buf_ struct buf path = BUF_INIT;
    long status;

    buf_puts(&path, "/images/");
    http_put_escaped(&path, id);
    if (buf_check(&path, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *doc = engine_ask(&r, path.data, &status, err);
    return doc ? 0 : -1;
}
