/*
 * JSON documents: a valid document is written back unchanged; spans match the text; and the
 * same document laid out anew (all of it, or around one edit) reads as the same tree.
 */
#include "base/json/json.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <string.h>

static const struct json_options lax = {.comments = true};
static const struct json_options strict = {.unique_keys = true};
static const struct json_options deeper = {.max_depth = 102, .max_bytes = 1 << 28};

static bool same_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len == b_len && memcmp(a, b, a_len) == 0;
}

static bool same_tree(const struct json *a, const struct json *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return a->boolean == b->boolean;
    case JSON_NUMBER:
    case JSON_STRING:
        return same_bytes(a->text, a->len, b->text, b->len);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    if (a->len != b->len)
        return false;
    for (size_t i = 0; i < a->len; i++) {
        if (a->type == JSON_ARRAY) {
            if (!same_tree(a->items[i], b->items[i]))
                return false;
            continue;
        }
        const struct json_member *m = &a->members[i], *n = &b->members[i];
        if (!same_bytes(m->key, m->key_len, n->key, n->key_len) || !same_tree(m->value, n->value))
            return false;
    }
    return true;
}

static bool starts_right(const struct json *v, const char *text)
{
    char first = text[v->start], last = text[v->end - 1];

    switch (v->type) {
    case JSON_NULL:
        return first == 'n' && last == 'l' && v->end - v->start == 4;
    case JSON_BOOL:
        return first == (v->boolean ? 't' : 'f') && last == 'e';
    case JSON_NUMBER:
        return same_bytes(v->text, v->len, text + v->start, v->end - v->start);
    case JSON_STRING:
        return first == '"' && last == '"' && v->end - v->start >= 2 + v->len / 6;
    case JSON_ARRAY:
        return first == '[' && last == ']';
    case JSON_OBJECT:
        return first == '{' && last == '}';
    }
    return false;
}

/* Each value lies within its container, behind its predecessor, and its text matches its type. */
static void check_places(const struct json *v, const char *text, size_t len)
{
    must(v->start < v->end && v->end <= len);
    must(!v->modified);
    must(starts_right(v, text));
    if (v->type == JSON_STRING)
        must(utf8_valid(v->text, v->len) && v->text[v->len] == '\0');
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
        return;
    size_t at = v->start + 1;
    for (size_t i = 0; i < v->len; i++) {
        const struct json *child = v->type == JSON_ARRAY ? v->items[i] : v->members[i].value;
        if (v->type == JSON_OBJECT) {
            must(v->members[i].key_start >= at && text[v->members[i].key_start] == '"');
            must(utf8_valid(v->members[i].key, v->members[i].key_len));
            at = v->members[i].key_start + 2;
        }
        must(child->parent == v && child->start >= at && child->end < v->end);
        check_places(child, text, len);
        at = child->end;
    }
}

/* Writes the document and reads it back. */
static struct json_doc *again(struct json_doc *doc, const struct json_options *options)
{
    _cleanup_buf_ struct buf out = {0};
    struct err err;

    must(json_write(doc, &out, &err) == 0);
    struct json_doc *next = json_parse(out.data, out.len, options, &err);
    must(next);
    return next;
}

/* Marks every container as edited, without a change; counts them. */
static size_t touch_all(struct json_doc *doc, struct json *v)
{
    size_t count = 1;

    if (v->type == JSON_ARRAY) {
        must(json_append(doc, v, json_bool(doc, true)));
        json_remove_at(v, v->len - 1);
    } else if (v->type == JSON_OBJECT) {
        size_t before = v->len;
        must(json_set(doc, v, "\x01 not there \xff", json_bool(doc, true)));
        json_remove(v, "\x01 not there \xff");
        must(v->len == before);
    } else {
        return 0;
    }
    for (size_t i = 0; i < v->len; i++)
        count += touch_all(doc, v->type == JSON_ARRAY ? v->items[i] : v->members[i].value);
    return count;
}

static struct json *container_at(struct json *v, size_t *countdown)
{
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
        return NULL;
    if ((*countdown)-- == 0)
        return v;
    for (size_t i = 0; i < v->len; i++) {
        struct json *child = v->type == JSON_ARRAY ? v->items[i] : v->members[i].value;
        struct json *found = container_at(child, countdown);
        if (found)
            return found;
    }
    return NULL;
}

static void check_layout(const char *text, size_t len)
{
    struct err err;
    _cleanup_json_ struct json_doc *doc = json_parse(text, len, &lax, &err);
    _cleanup_json_ struct json_doc *copy = json_new_object(&err);
    must(doc && copy);

    must(json_set(copy, json_root(copy), "c", json_copy(copy, json_root(doc))));
    _cleanup_json_ struct json_doc *copied = again(copy, &deeper);
    must(same_tree(json_root(doc), json_get(json_root(copied), "c")));

    _cleanup_json_ struct json_doc *pristine = json_parse(text, len, &lax, &err);
    must(pristine);
    must((touch_all(doc, json_root(doc)) > 0) == json_modified(doc));
    _cleanup_json_ struct json_doc *anew = again(doc, json_modified(doc) ? &deeper : &lax);
    must(same_tree(json_root(pristine), json_root(anew)));
}

/* One edit: the rest keeps its meaning, and the edit can be undone. */
static void check_edit(const char *text, size_t len)
{
    struct err err;
    _cleanup_json_ struct json_doc *doc = json_parse(text, len, &lax, &err);
    _cleanup_json_ struct json_doc *pristine = json_parse(text, len, &lax, &err);
    must(doc && pristine);
    size_t which = len % 7;
    struct json *place = container_at(json_root(doc), &which);

    if (!place)
        return;
    size_t some = len < 40 ? len : 40;
    while (!utf8_valid(text, some))
        some--;
    struct json *added = json_string_len(doc, text, some);
    if (place->type == JSON_ARRAY)
        must(json_insert(doc, place, place->len / 2, added));
    else
        must(json_set(doc, place, "\x01 added", added));
    _cleanup_json_ struct json_doc *edited = again(doc, &lax);
    must(same_tree(json_root(doc), json_root(edited)));
    must(!same_tree(json_root(pristine), json_root(edited)));
    which = len % 7;
    place = container_at(json_root(edited), &which);
    must(place);
    if (place->type == JSON_ARRAY)
        json_remove_at(place, (place->len - 1) / 2);
    else
        json_remove(place, "\x01 added");
    _cleanup_json_ struct json_doc *restored = again(edited, &lax);
    must(same_tree(json_root(pristine), json_root(restored)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *exact = json_parse(text, size, &strict, &err);
    _cleanup_json_ struct json_doc *doc = json_parse(text, size, &lax, &err);
    _cleanup_buf_ struct buf out = {0};

    if (!doc) {
        must(!exact);
        must(err.kind == ERR_FORMAT || err.kind == ERR_LIMIT);
        must(err.msg[0] >= '1' && err.msg[0] <= '9' && strchr(err.msg, ':'));
        return 0;
    }
    if (exact)
        must(same_tree(json_root(doc), json_root(exact)));
    must(json_write(doc, &out, &err) == 0 && same_bytes(out.data, out.len, text, size));
    check_places(json_root(doc), text, size);
    check_layout(text, size);
    check_edit(text, size);
    return 0;
}
