#include "shim/cdi/cdi_yaml.h"

#include <string.h>
#include <yaml.h>

enum { MOST_LEVELS = 32 };

struct reader {
    yaml_parser_t parser;
    struct json_doc *doc;
    struct err *err;
};

static int refuse(struct reader *r, const char *what)
{
    return err_set(r->err, ERR_FORMAT, "line %zu: %s", r->parser.mark.line + 1, what);
}

static int read_event(struct reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event))
        return 0;
    return err_set(r->err, ERR_FORMAT, "line %zu: %s", r->parser.problem_mark.line + 1,
                   r->parser.problem ? r->parser.problem : "not YAML");
}

/* True for "0" and "-12": digits without a leading zero, which would be octal. */
static bool is_integer(const char *text)
{
    const char *digits = text + (*text == '-');
    size_t len = strspn(digits, "0123456789");

    return len && len < 19 && !digits[len] && (len == 1 || *digits != '0');
}

static struct json *plain_value(struct json_doc *doc, const char *text, size_t len)
{
    if (strlen(text) == len && (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0))
        return json_null(doc);
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_bool(doc, *text == 't');
    if (is_integer(text))
        return json_number_signed(doc, strtoll(text, NULL, 10));
    return json_string_len(doc, text, len);
}

static int read_value(struct reader *r, const yaml_event_t *event, int level, struct json **out);

static int read_sequence(struct reader *r, int level, struct json **out)
{
    struct json *list = *out = json_array(r->doc);

    for (;;) {
        yaml_event_t event;
        struct json *item = NULL;
        if (read_event(r, &event) < 0)
            return -1;
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        int rc = end ? 0 : read_value(r, &event, level, &item);
        yaml_event_delete(&event);
        if (end || rc < 0)
            return rc;
        json_append(r->doc, list, item);
    }
}

/* Reads the value of a key, which is that event. */
static int read_member(struct reader *r, const yaml_event_t *key, int level, struct json *object)
{
    const char *name = (const char *)key->data.scalar.value;
    yaml_event_t event;
    struct json *value = NULL;

    if (key->type != YAML_SCALAR_EVENT || key->data.scalar.anchor ||
        strlen(name) != key->data.scalar.length)
        return refuse(r, "a key that is not a text");
    if (json_get(object, name))
        return refuse(r, "a key that comes twice");
    if (read_event(r, &event) < 0)
        return -1;
    int rc = read_value(r, &event, level, &value);
    yaml_event_delete(&event);
    if (rc == 0)
        json_set(r->doc, object, name, value);
    return rc;
}

static int read_mapping(struct reader *r, int level, struct json **out)
{
    struct json *object = *out = json_object(r->doc);

    for (;;) {
        yaml_event_t event;
        if (read_event(r, &event) < 0)
            return -1;
        bool end = event.type == YAML_MAPPING_END_EVENT;
        int rc = end ? 0 : read_member(r, &event, level, object);
        yaml_event_delete(&event);
        if (end || rc < 0)
            return rc;
    }
}

/* Reads the value that begins with the event. */
static int read_value(struct reader *r, const yaml_event_t *event, int level, struct json **out)
{
    if (level > MOST_LEVELS)
        return refuse(r, "too deep");
    if (json_failed(r->doc))
        return err_nomem(r->err);
    switch (event->type) {
    case YAML_SCALAR_EVENT: {
        const char *text = (const char *)event->data.scalar.value;
        size_t len = event->data.scalar.length;
        if (event->data.scalar.anchor)
            return refuse(r, "anchors are not read");
        *out = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
                   ? plain_value(r->doc, text, len)
                   : json_string_len(r->doc, text, len);
        return 0;
    }
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor ? refuse(r, "anchors are not read")
                                                 : read_sequence(r, level + 1, out);
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor ? refuse(r, "anchors are not read")
                                                : read_mapping(r, level + 1, out);
    default:
        return refuse(r, "aliases are not read");
    }
}

/* Reads the root's members into the document's root. */
static int read_document(struct reader *r)
{
    static const yaml_event_type_t begin[] = {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT};
    yaml_event_t event;
    struct json *root = NULL;

    for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++) {
        if (read_event(r, &event) < 0)
            return -1;
        bool expected = event.type == begin[i];
        yaml_event_delete(&event);
        if (!expected)
            return refuse(r, "there is no document");
    }
    if (read_event(r, &event) < 0)
        return -1;
    int rc = read_value(r, &event, 0, &root);
    yaml_event_delete(&event);
    if (rc < 0)
        return -1;
    if (!json_is(root, JSON_OBJECT))
        return refuse(r, "not a mapping");
    json_set(r->doc, json_root(r->doc), "spec", root);
    return json_failed(r->doc) ? err_nomem(r->err) : 0;
}

/* A second document would be another specification, which programs that read this file may or may
 * not see. */
static int read_end(struct reader *r)
{
    static const yaml_event_type_t end[] = {YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT};
    yaml_event_t event;

    for (size_t i = 0; i < sizeof(end) / sizeof(*end); i++) {
        if (read_event(r, &event) < 0)
            return -1;
        bool expected = event.type == end[i];
        yaml_event_delete(&event);
        if (!expected)
            return refuse(r, "more than one document");
    }
    return 0;
}

struct json_doc *cdi_yaml_parse(const char *text, size_t len, struct err *err)
{
    struct reader r = {.err = err};

    if (!yaml_parser_initialize(&r.parser)) {
        err_nomem(err);
        return NULL;
    }
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    r.doc = json_new_object(err);
    if (r.doc && (read_document(&r) < 0 || read_end(&r) < 0)) {
        json_free(r.doc);
        r.doc = NULL;
    }
    yaml_parser_delete(&r.parser);
    return r.doc;
}
