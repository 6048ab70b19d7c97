#include "shim/admin/install/json_text.h"

#include "base/json/json.h"

#include <ctype.h>
#include <string.h>

static struct json_doc *parse(const struct buf *text, struct err *err)
{
    static const struct json_options options = {.unique_keys = true};

    return json_parse(text->data ? text->data : "", text->len, &options, err);
}

/* Replaces the bytes from `start` to `end`. */
static int splice(struct buf *text, size_t start, size_t end, const struct buf *by, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    buf_append(&out, text->data, start);
    buf_append(&out, by->data, by->len);
    buf_append(&out, text->data + end, text->len - end);
    if (by->failed || buf_check(&out, err) < 0)
        return err_nomem(err);
    buf_free(text);
    *text = out;
    out = (struct buf)BUF_INIT;
    return 0;
}

/* ---- layout ---- */

enum { MOST_INDENT = 64 };

struct layout {
    bool lines;                    /* members are on lines of their own */
    char indent[MOST_INDENT + 1];  /* before the object's members */
    char unit[MOST_INDENT + 1];    /* one more level */
    char closing[MOST_INDENT + 1]; /* before the closing brace, if the object was empty */
};

/* Copies the blanks at the beginning of the line with this byte. Returns how many. */
static size_t line_indent(const char *text, size_t at, char *out)
{
    size_t start = at, len = 0;

    while (start > 0 && text[start - 1] != '\n')
        start--;
    while (len < MOST_INDENT && (text[start + len] == ' ' || text[start + len] == '\t'))
        len++;
    memcpy(out, text + start, len);
    out[len] = '\0';
    return len;
}

static bool has_newline(const char *text, size_t from, size_t to)
{
    return memchr(text + from, '\n', to - from) != NULL;
}

static struct layout layout_of(const char *text, const struct json *root, const struct json *object)
{
    struct layout l = {.lines = true, .unit = "    "};

    if (root->len && has_newline(text, root->start, root->members[0].key_start))
        line_indent(text, root->members[0].key_start, l.unit);
    if (object->len) {
        size_t key = object->members[0].key_start;
        l.lines = has_newline(text, object->start, key);
        line_indent(text, key, l.indent);
        return l;
    }
    l.lines = object == root || has_newline(text, root->start, object->start);
    line_indent(text, object->start, l.closing);
    size_t len = strlen(l.closing), more = strlen(l.unit);
    if (more > MOST_INDENT - len) /* each of the two is at most MOST_INDENT long */
        more = MOST_INDENT - len;
    memcpy(l.indent, l.closing, len);
    memcpy(l.indent + len, l.unit, more);
    l.indent[len + more] = '\0';
    return l;
}

static void put_break(struct buf *out, const struct layout *l, size_t level)
{
    if (!l->lines) {
        buf_putc(out, ' ');
        return;
    }
    buf_printf(out, "\n%s", l->indent);
    for (size_t i = 0; i < level; i++)
        buf_puts(out, l->unit);
}

/* Appends "a": { "b": VALUE }, for the rest of a path. */
static void put_member(struct buf *out, const struct layout *l, const char *const *path,
                       size_t depth, const char *value)
{
    for (size_t i = 0; i < depth; i++) {
        if (i)
            put_break(out, l, i);
        json_quote(out, path[i], strlen(path[i]));
        buf_puts(out, i + 1 < depth ? ": {" : ": ");
    }
    buf_puts(out, value);
    for (size_t i = depth - 1; i > 0; i--) {
        put_break(out, l, i - 1);
        buf_putc(out, '}');
    }
}

static int insert(struct buf *text, const struct json *root, const struct json *object,
                  const char *const *path, size_t depth, const char *value, struct err *err)
{
    struct layout l = layout_of(text->data, root, object);
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (object->len) {
        size_t at = object->members[object->len - 1].value->end;
        buf_putc(&out, ',');
        put_break(&out, &l, 0);
        put_member(&out, &l, path, depth, value);
        return splice(text, at, at, &out, err);
    }
    buf_putc(&out, '{');
    put_break(&out, &l, 0);
    put_member(&out, &l, path, depth, value);
    buf_printf(&out, l.lines ? "\n%s}" : " }", l.lines ? l.closing : "");
    return splice(text, object->start, object->end, &out, err);
}

/* ---- members ---- */

/* Returns the deepest object on the path and, in *found, how many of its names exist. */
static const struct json *walk(const struct json *root, const char *const *path, size_t depth,
                               size_t *found, struct err *err)
{
    const struct json *object = root;

    for (*found = 0;; ++*found) {
        if (!json_is(object, JSON_OBJECT)) {
            err_set(err, ERR_FORMAT, "%s is not an object", *found ? path[*found - 1] : "the text");
            return NULL;
        }
        const struct json *next = json_get(object, path[*found]);
        if (!next || *found + 1 == depth) {
            *found += next != NULL;
            return object;
        }
        object = next;
    }
}

int json_text_set(struct buf *text, const char *const *path, size_t depth, const char *value,
                  struct err *err)
{
    _cleanup_json_ struct json_doc *doc = parse(text, err);
    _cleanup_buf_ struct buf by = BUF_INIT;
    size_t found;

    const struct json *object = doc ? walk(json_root(doc), path, depth, &found, err) : NULL;
    if (!object)
        return -1;
    if (found < depth)
        return insert(text, json_root(doc), object, path + found, depth - found, value, err);
    const struct json *old = json_get(object, path[depth - 1]);
    buf_puts(&by, value);
    if (old->end - old->start == by.len && memcmp(text->data + old->start, value, by.len) == 0)
        return 0;
    return splice(text, old->start, old->end, &by, err);
}

int json_text_remove(struct buf *text, const char *const *path, size_t depth, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = parse(text, err);
    const struct buf nothing = BUF_INIT, empty = {.data = (char[]){"{}"}, .len = 2};
    size_t found, i = 0;

    const struct json *object = doc ? walk(json_root(doc), path, depth, &found, err) : NULL;
    if (!object)
        return -1;
    if (found < depth)
        return 0;
    while (strcmp(object->members[i].key, path[depth - 1]) != 0)
        i++;
    const struct json_member *m = &object->members[i];
    if (object->len == 1)
        return splice(text, object->start, object->end, &empty, err);
    if (i + 1 < object->len)
        return splice(text, m->key_start, m[1].key_start, &nothing, err);
    return splice(text, m[-1].value->end, m->value->end, &nothing, err);
}
