#include "base/json_internal.h"

#include <stdint.h>
#include <string.h>
#include <yajl/yajl_parse.h>

/*
 * yajl's events become a tree. Each callback learns where its token starts: the first byte behind
 * the previous token that is neither a separator nor a comment.
 */
struct parser {
    yajl_handle yajl;
    struct json_doc *doc;
    struct json *container; /* the open array or object */
    struct json_member key; /* the name of the member to come */
    size_t prev_end;        /* end of the token before */
    size_t depth, max_depth;
    bool unique_keys;
    struct err *err;
};

static size_t skip_comment(const char *text, size_t i, size_t len)
{
    if (text[i + 1] == '/') {
        const char *end = memchr(text + i, '\n', len - i);
        return end ? (size_t)(end - text) : len;
    }
    const char *end = memmem(text + i + 2, len - i - 2, "*/", 2);
    return end ? (size_t)(end - text) + 2 : len;
}

static size_t token_start(const struct parser *p)
{
    const char *text = p->doc->text;
    size_t i = p->prev_end, len = p->doc->len;

    while (i < len) {
        if (text[i] == '/' && i + 1 < len)
            i = skip_comment(text, i, len);
        else if (memchr(" \t\r\n\v\f,:", text[i], 8))
            i++;
        else
            break;
    }
    return i;
}

static int fail_at(struct parser *p, size_t offset, enum err_kind kind, const char *reason)
{
    unsigned line, column;

    json_position(p->doc, offset, &line, &column);
    err_set(p->err, kind, "%u:%u: %s", line, column, reason);
    return 0; /* yajl: cancel */
}

static int out_of_memory(struct parser *p)
{
    err_set(p->err, ERR_LIMIT, "the document takes too much memory");
    return 0;
}

static struct json *new_value(struct parser *p, enum json_type type)
{
    struct json *value = json_alloc(p->doc, type);

    if (!value) {
        out_of_memory(p);
        return NULL;
    }
    value->start = token_start(p);
    value->end = p->prev_end = yajl_get_bytes_consumed(p->yajl);
    return value;
}

static int attach(struct parser *p, struct json *value)
{
    int rc;

    if (!p->container) {
        p->doc->root = value;
        return 1;
    }
    if (p->container->type == JSON_ARRAY) {
        rc = json_push_item(p->doc, p->container, value);
    } else {
        p->key.value = value;
        rc = json_push_member(p->doc, p->container, &p->key);
    }
    return rc == 0 ? 1 : out_of_memory(p);
}

static int on_null(void *ctx)
{
    struct json *value = new_value(ctx, JSON_NULL);

    return value ? attach(ctx, value) : 0;
}

static int on_boolean(void *ctx, int boolean)
{
    struct json *value = new_value(ctx, JSON_BOOL);

    if (!value)
        return 0;
    value->boolean = boolean;
    return attach(ctx, value);
}

static int set_text(struct parser *p, struct json *value, const unsigned char *text, size_t len)
{
    value->text = arena_strndup(&p->doc->arena, (const char *)text, len);
    value->len = len;
    return value->text ? attach(p, value) : out_of_memory(p);
}

static int on_number(void *ctx, const char *digits, size_t len)
{
    struct parser *p = ctx;
    struct json *value = new_value(p, JSON_NUMBER);

    if (!value)
        return 0;
    /* A number that ends the text is reported late, when yajl counts from 0 again. */
    value->end = p->prev_end = value->start + len;
    return set_text(p, value, (const unsigned char *)digits, len);
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
    struct json *value = new_value(ctx, JSON_STRING);

    return value ? set_text(ctx, value, text, len) : 0;
}

static int open_container(struct parser *p, enum json_type type)
{
    struct json *value;

    if (p->depth == p->max_depth)
        return fail_at(p, token_start(p), ERR_LIMIT, "nested too deeply");
    value = new_value(p, type);
    if (!value || !attach(p, value))
        return 0;
    p->depth++;
    p->container = value;
    return 1;
}

static int close_container(struct parser *p)
{
    p->container->end = p->prev_end = yajl_get_bytes_consumed(p->yajl);
    p->container = p->container->parent;
    p->depth--;
    return 1;
}

static int on_start_map(void *ctx)
{
    return open_container(ctx, JSON_OBJECT);
}

static int on_map_key(void *ctx, const unsigned char *key, size_t len)
{
    struct parser *p = ctx;

    p->key.key_start = token_start(p);
    p->prev_end = yajl_get_bytes_consumed(p->yajl);
    p->key.key_len = len;
    p->key.key = arena_strndup(&p->doc->arena, (const char *)key, len);
    return p->key.key ? 1 : out_of_memory(p);
}

static uint64_t key_hash(const struct json_member *m)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < m->key_len; i++)
        hash = (hash ^ (unsigned char)m->key[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

static bool same_key(const struct json_member *a, const struct json_member *b)
{
    return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

/* The second member that bears some name, or NULL; *failed without memory. */
static const struct json_member *find_duplicate(const struct json *object, bool *failed)
{
    const struct json_member *m = object->members;
    size_t size = 16;

    *failed = false;
    while (size < object->len * 2)
        size *= 2;
    _cleanup_free_ size_t *slots = calloc(size, sizeof(*slots));
    if (!slots) {
        *failed = true;
        return NULL;
    }
    for (size_t i = 0; i < object->len; i++) {
        size_t at = key_hash(&m[i]) & (size - 1);
        while (slots[at]) {
            if (same_key(&m[slots[at] - 1], &m[i]))
                return &m[i];
            at = (at + 1) & (size - 1);
        }
        slots[at] = i + 1;
    }
    return NULL;
}

static int on_end_map(void *ctx)
{
    struct parser *p = ctx;

    if (p->unique_keys && p->container->len > 1) {
        bool failed;
        const struct json_member *twice = find_duplicate(p->container, &failed);
        if (failed)
            return out_of_memory(p);
        if (twice)
            return fail_at(p, twice->key_start, ERR_FORMAT, "this key is given twice");
    }
    return close_container(p);
}

static int on_start_array(void *ctx)
{
    return open_container(ctx, JSON_ARRAY);
}

static int on_end_array(void *ctx)
{
    return close_container(ctx);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_map_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

/* yajl says "lexical error: reason\n" or "parse error: reason\n". */
static void syntax_error(struct parser *p)
{
    size_t at = yajl_get_bytes_consumed(p->yajl);
    unsigned char *text = yajl_get_error(p->yajl, 0, NULL, 0);
    char reason[160];

    snprintf(reason, sizeof(reason), "%s", text ? (char *)text : "not JSON");
    reason[strcspn(reason, "\n")] = '\0';
    if (text)
        yajl_free_error(p->yajl, text);
    if (at < p->prev_end || strstr(reason, "premature EOF"))
        at = p->doc->len;
    fail_at(p, at ? at - 1 : 0, ERR_FORMAT, reason);
}

static int run(struct parser *p, struct err *err)
{
    yajl_status status = yajl_parse(p->yajl, (const unsigned char *)p->doc->text, p->doc->len);

    if (status == yajl_status_ok)
        status = yajl_complete_parse(p->yajl);
    if (status == yajl_status_error)
        syntax_error(p);
    if (status != yajl_status_ok)
        return -1;
    if (!p->doc->root)
        return err_set(err, ERR_FORMAT, "1:1: empty document");
    return 0;
}

struct json_doc *json_parse(const char *text, size_t len, const struct json_options *options,
                            struct err *err)
{
    static const struct json_options defaults = {0};
    const struct json_options *o = options ? options : &defaults;
    size_t max_bytes = o->max_bytes ? o->max_bytes : JSON_DEFAULT_BYTES;

    if (len > max_bytes) {
        err_set(err, ERR_LIMIT, "JSON of %zu bytes, more than %zu", len, max_bytes);
        return NULL;
    }
    _cleanup_json_ struct json_doc *doc = calloc(1, sizeof(*doc));
    if (!doc) {
        err_nomem(err);
        return NULL;
    }
    /* The most that honest text takes, "[[],[],…", stays below 64 bytes a byte. */
    doc->arena.limit = max_bytes > SIZE_MAX / 64 ? 0 : max_bytes * 64;
    doc->text = arena_strndup(&doc->arena, text, len);
    doc->len = len;
    struct parser p = {
        .doc = doc,
        .max_depth = o->max_depth ? o->max_depth : JSON_DEFAULT_DEPTH,
        .unique_keys = o->unique_keys,
        .err = err,
    };
    p.yajl = yajl_alloc(&callbacks, NULL, &p);
    if (!doc->text || !p.yajl) {
        err_nomem(err);
        return NULL;
    }
    yajl_config(p.yajl, yajl_allow_comments, o->comments ? 1 : 0);
    int rc = run(&p, err);
    yajl_free(p.yajl);
    return rc < 0 ? NULL : steal_ptr(&doc);
}
