#include "flatten/exchange/engine_reply.h"

#include "base/json/json.h"

#include <string.h>

static const char unpack_failed[] = "Error unpacking image";

void engine_reply_clear(struct engine_reply *r)
{
    buf_free(&r->object);
    *r = (struct engine_reply){0};
}

static void note_id(struct engine_reply *r, const char *status)
{
    struct err ignored = ERR_INIT;
    struct digest id;

    if (status && digest_parse(status, &id, &ignored) == 0)
        r->id = id;
}

static int judge_object(struct engine_reply *r, struct err *err)
{
    static const struct json_options options = {.max_bytes = ENGINE_REPLY_LIMIT};
    const struct buf *object = &r->object;

    if (buf_check(object, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *doc = json_parse(object->data, object->len, &options, err);
    if (!doc)
        return err_wrap(err, "the daemon's reply");
    const struct json *root = json_root(doc), *detail = json_get(root, "errorDetail");
    const struct json *error = json_get(root, "error");
    const char *said = json_text(json_get(detail, "message"));
    const char *stream = json_text(json_get(root, "stream"));
    note_id(r, json_text(json_get(root, "status")));
    if (!said)
        said = json_text(error);
    if (said || detail || error)
        return err_set(err, ERR_SYSTEM, "the daemon says: %s", said ? said : "error");
    if (stream && strstr(stream, unpack_failed))
        return err_set(err, ERR_SYSTEM, "the daemon says: %.*s", (int)strcspn(stream, "\r\n"),
                       stream);
    return 0;
}

/* Follows strings and brackets. Returns true if the byte belongs to an object. */
static bool follow_byte(struct engine_reply *r, char c)
{
    if (r->in_string) {
        r->in_string = r->escaped || c != '"';
        r->escaped = !r->escaped && c == '\\';
    } else if (c == '{' || c == '[') {
        r->depth++;
    } else if (r->depth == 0) {
        return false;
    } else if (c == '}' || c == ']') {
        r->depth--;
    } else {
        r->in_string = c == '"';
    }
    return true;
}

int engine_reply_feed(struct engine_reply *r, const char *data, size_t len, struct err *err)
{
    for (size_t i = 0; i < len; i++) {
        if (!follow_byte(r, data[i])) {
            if (!memchr(" \t\r\n", data[i], 4))
                return err_set(err, ERR_FORMAT, "the daemon's reply is not JSON");
            continue;
        }
        if (r->object.len == ENGINE_REPLY_LIMIT)
            return err_set(err, ERR_LIMIT, "an object of the daemon's reply has more than %d bytes",
                           ENGINE_REPLY_LIMIT);
        buf_putc(&r->object, data[i]);
        if (r->depth > 0)
            continue;
        if (judge_object(r, err) < 0)
            return -1;
        buf_truncate(&r->object, 0);
    }
    return 0;
}

int engine_reply_end(const struct engine_reply *r, struct err *err)
{
    if (r->depth > 0)
        return err_set(err, ERR_FORMAT, "the daemon's reply ends in the middle");
    return 0;
}
