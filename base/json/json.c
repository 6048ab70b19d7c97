#include "base/json/json_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct json *json_alloc(struct json_doc *doc, enum json_type type)
{
    struct json *value = arena_alloc(&doc->arena, sizeof(*value));

    if (!value) {
        doc->failed = true;
        return NULL;
    }
    value->type = type;
    return value;
}

void json_free(struct json_doc *doc)
{
    arena_free(&doc->arena);
    free(doc->text);
    free(doc);
}

struct json_doc *json_new_object(struct err *err)
{
    static const char empty[] = "{}";

    return json_parse(empty, sizeof(empty) - 1, NULL, err);
}

size_t json_memory(const struct json_doc *doc)
{
    return doc->arena.used + doc->len;
}

struct json *json_root(struct json_doc *doc)
{
    return doc->root;
}

void json_position(const struct json_doc *doc, size_t offset, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < offset && i < doc->len; i++) {
        if (doc->text[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            ++*column;
        }
    }
}

/* ---- looking ---- */

bool json_is(const struct json *value, enum json_type type)
{
    return value && value->type == type;
}

bool json_true(const struct json *value)
{
    return json_is(value, JSON_BOOL) && value->boolean;
}

struct json *json_get_len(const struct json *object, const char *key, size_t key_len)
{
    if (!json_is(object, JSON_OBJECT))
        return NULL;
    for (size_t i = 0; i < object->len; i++) {
        const struct json_member *m = &object->members[i];
        if (m->key_len == key_len && memcmp(m->key, key, key_len) == 0)
            return m->value;
    }
    return NULL;
}

struct json *json_get(const struct json *object, const char *key)
{
    return json_get_len(object, key, strlen(key));
}

bool json_member_is(const struct json_member *member, const char *key)
{
    return strlen(key) == member->key_len && memcmp(key, member->key, member->key_len) == 0;
}

struct json *json_path(const struct json *value, ...)
{
    struct json *found = NULL;
    va_list args;
    const char *key;

    va_start(args, value);
    while (value && (key = va_arg(args, const char *)))
        value = found = json_get(value, key);
    va_end(args);
    return found;
}

struct json *json_at(const struct json *array, size_t index)
{
    return json_is(array, JSON_ARRAY) && index < array->len ? array->items[index] : NULL;
}

size_t json_count(const struct json *value)
{
    return json_is(value, JSON_ARRAY) || json_is(value, JSON_OBJECT) ? value->len : 0;
}

const char *json_text(const struct json *value)
{
    if (!json_is(value, JSON_STRING) || memchr(value->text, '\0', value->len))
        return NULL;
    return value->text;
}

bool json_u64(const struct json *value, uint64_t *out)
{
    if (!json_is(value, JSON_NUMBER) || value->text[strspn(value->text, "0123456789")] != '\0')
        return false;
    errno = 0;
    *out = strtoull(value->text, NULL, 10);
    return errno == 0;
}

bool json_i64(const struct json *value, int64_t *out)
{
    const char *digits;

    if (!json_is(value, JSON_NUMBER))
        return false;
    digits = value->text + (value->text[0] == '-');
    if (digits[strspn(digits, "0123456789")] != '\0')
        return false;
    errno = 0;
    *out = strtoll(value->text, NULL, 10);
    return errno == 0;
}

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {"null",     "true or false", "a number",
                                        "a string", "an array",      "an object"};
    return names[type];
}

/* ---- editing ---- */

static void touch(struct json *value)
{
    for (; value && !value->modified; value = value->parent)
        value->modified = true;
}

struct json *json_string_len(struct json_doc *doc, const char *text, size_t len)
{
    struct json *value = json_alloc(doc, JSON_STRING);

    if (!value)
        return NULL;
    value->modified = true;
    value->text = arena_strndup(&doc->arena, text, len);
    value->len = len;
    if (!value->text) {
        doc->failed = true;
        return NULL;
    }
    return value;
}

struct json *json_string(struct json_doc *doc, const char *text)
{
    return json_string_len(doc, text, strlen(text));
}

static struct json *number_text(struct json_doc *doc, const char *digits)
{
    struct json *value = json_string(doc, digits);

    if (value)
        value->type = JSON_NUMBER;
    return value;
}

struct json *json_number(struct json_doc *doc, uint64_t number)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    return number_text(doc, digits);
}

struct json *json_number_signed(struct json_doc *doc, int64_t number)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRId64, number);
    return number_text(doc, digits);
}

static struct json *fresh(struct json_doc *doc, enum json_type type)
{
    struct json *value = json_alloc(doc, type);

    if (value)
        value->modified = true;
    return value;
}

struct json *json_bool(struct json_doc *doc, bool boolean)
{
    struct json *value = fresh(doc, JSON_BOOL);

    if (value)
        value->boolean = boolean;
    return value;
}

struct json *json_null(struct json_doc *doc)
{
    return fresh(doc, JSON_NULL);
}

struct json *json_array(struct json_doc *doc)
{
    return fresh(doc, JSON_ARRAY);
}

struct json *json_object(struct json_doc *doc)
{
    return fresh(doc, JSON_OBJECT);
}

/*
 * Returns a copy of the container's list with room for one more element of `size` bytes, and more;
 * the old list stays in the arena as waste.
 */
static void *grown(struct json_doc *doc, const struct json *container, const void *old, size_t size)
{
    size_t cap = container->cap ? container->cap * 2 : 4;
    void *bigger = arena_alloc(&doc->arena, cap * size);

    if (!bigger) {
        doc->failed = true;
        return NULL;
    }
    if (container->len)
        memcpy(bigger, old, container->len * size);
    return bigger;
}

int json_push_item(struct json_doc *doc, struct json *array, struct json *value)
{
    if (array->len == array->cap) {
        void *bigger = grown(doc, array, array->items, sizeof(*array->items));
        if (!bigger)
            return -1;
        array->items = bigger;
        array->cap = array->cap ? array->cap * 2 : 4;
    }
    array->items[array->len++] = value;
    value->parent = array;
    return 0;
}

int json_push_member(struct json_doc *doc, struct json *object, const struct json_member *member)
{
    if (object->len == object->cap) {
        void *bigger = grown(doc, object, object->members, sizeof(*object->members));
        if (!bigger)
            return -1;
        object->members = bigger;
        object->cap = object->cap ? object->cap * 2 : 4;
    }
    object->members[object->len++] = *member;
    member->value->parent = object;
    return 0;
}

/* Returns true if value may be put into container; otherwise the document has failed. */
static bool may_edit(struct json_doc *doc, struct json *container, enum json_type type,
                     const struct json *value)
{
    if (json_is(container, type) && value)
        return true;
    doc->failed = true;
    return false;
}

struct json *json_set(struct json_doc *doc, struct json *object, const char *key,
                      struct json *value)
{
    if (!may_edit(doc, object, JSON_OBJECT, value))
        return NULL;
    touch(object);
    for (size_t i = 0; i < object->len; i++) {
        struct json_member *m = &object->members[i];
        if (json_member_is(m, key)) {
            m->value = value;
            value->parent = object;
            return value;
        }
    }
    struct json_member added = {.key_len = strlen(key), .value = value};
    added.key = arena_strndup(&doc->arena, key, added.key_len);
    if (!added.key || json_push_member(doc, object, &added) < 0) {
        doc->failed = true;
        return NULL;
    }
    return value;
}

struct json *json_insert(struct json_doc *doc, struct json *array, size_t index, struct json *value)
{
    if (!may_edit(doc, array, JSON_ARRAY, value) || index > array->len ||
        json_push_item(doc, array, value) < 0) {
        doc->failed = true;
        return NULL;
    }
    touch(array);
    memmove(array->items + index + 1, array->items + index,
            (array->len - 1 - index) * sizeof(*array->items));
    array->items[index] = value;
    return value;
}

struct json *json_list(struct json_doc *doc, struct json *object, const char *key)
{
    struct json *list = json_get(object, key);

    return json_is(list, JSON_ARRAY) ? list : json_set(doc, object, key, json_array(doc));
}

struct json *json_append(struct json_doc *doc, struct json *array, struct json *value)
{
    return json_insert(doc, array, json_count(array), value);
}

void json_replace_at(struct json_doc *doc, struct json *array, size_t index, struct json *value)
{
    if (!may_edit(doc, array, JSON_ARRAY, value) || index >= array->len) {
        doc->failed = true;
        return;
    }
    touch(array);
    array->items[index] = value;
    value->parent = array;
}

void json_remove_at(struct json *array, size_t index)
{
    if (!json_at(array, index))
        return;
    touch(array);
    array->len--;
    memmove(array->items + index, array->items + index + 1,
            (array->len - index) * sizeof(*array->items));
}

void json_remove(struct json *object, const char *key)
{
    if (!json_get(object, key))
        return;
    touch(object);
    size_t kept = 0;
    for (size_t i = 0; i < object->len; i++) {
        struct json_member *m = &object->members[i];
        if (!json_member_is(m, key))
            object->members[kept++] = *m;
    }
    object->len = kept;
}

static int copy_children(struct json_doc *doc, struct json *to, const struct json *from)
{
    for (size_t i = 0; i < from->len; i++) {
        if (from->type == JSON_ARRAY) {
            struct json *item = json_copy(doc, from->items[i]);
            if (!item || json_push_item(doc, to, item) < 0)
                return -1;
        } else {
            struct json_member m = {.key_len = from->members[i].key_len};
            m.key = arena_strndup(&doc->arena, from->members[i].key, m.key_len);
            m.value = json_copy(doc, from->members[i].value);
            if (!m.key || !m.value || json_push_member(doc, to, &m) < 0)
                return -1;
        }
    }
    return 0;
}

struct json *json_copy(struct json_doc *doc, const struct json *value)
{
    if (!value) {
        doc->failed = true;
        return NULL;
    }
    if (value->type == JSON_STRING)
        return json_string_len(doc, value->text, value->len);
    if (value->type == JSON_NUMBER)
        return number_text(doc, value->text);
    struct json *copy = fresh(doc, value->type);
    if (!copy)
        return NULL;
    copy->boolean = value->boolean;
    if (value->type == JSON_ARRAY || value->type == JSON_OBJECT) {
        if (copy_children(doc, copy, value) < 0) {
            doc->failed = true;
            return NULL;
        }
    }
    return copy;
}

bool json_failed(const struct json_doc *doc)
{
    return doc->failed;
}

bool json_modified(struct json_doc *doc)
{
    return doc->root->modified;
}
