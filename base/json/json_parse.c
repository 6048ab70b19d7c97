#include "base/json/json_internal.h"

#include "base/hash.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>
#include <yajl/yajl_parse.h>

/*
 * Builds the tree from yajl's events. Each callback learns where its token starts: the first byte
 * behind the previous token that is neither a separator nor a comment.
 */
struct parser {
    yajl_handle yajl;
    struct json_doc *doc;
    struct json *container; /* `cap`: where its elements begin in `open` */
    struct json_member key; /* the name of the member to come */
    struct buf open;        /* the elements of all open containers so far */
    size_t prev_end;        /* end of the token before */
    size_t depth, max_depth;
    bool unique_keys, comments;
    struct err *err;
};

/* Returns where the comment at i ends; 0 if it does not end. */
static size_t skip_comment(const char *text, size_t i, size_t len)
{
    if (text[i + 1] == '/') {
        const char *end = memchr(text + i, '\n', len - i);
        return end ? (size_t)(end - text) : len;
    }
    const char *end = memmem(text + i + 2, len - i - 2, "*/", 2);
    return end ? (size_t)(end - text) + 2 : 0;
}

static bool separates(char c)
{
    return c == ' ' || c == ',' || c == ':' || (c >= '\t' && c <= '\r');
}

static size_t token_start(const struct parser *p)
{
    const char *text = p->doc->text;
    size_t i = p->prev_end, len = p->doc->len;

    while (i < len) {
        size_t next = i + 1;
        if (text[i] == '/')
            next = p->comments && i + 1 < len ? skip_comment(text, i, len) : 0;
        else if (!separates(text[i]))
            break;
        if (!next)
            break;
        i = next;
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

/*
 * Collects the elements in `open`: their number is known, and the list made, when the container is
 * closed.
 */
static int attach(struct parser *p, struct json *value)
{
    value->parent = p->container;
    if (!p->container) {
        p->doc->root = value;
        return 1;
    }
    p->key.value = value;
    if (p->container->type == JSON_ARRAY)
        buf_append(&p->open, &value, sizeof(struct json *));
    else
        buf_append(&p->open, &p->key, sizeof(p->key));
    return p->open.failed ? out_of_memory(p) : 1;
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

static int on_number(void *ctx, const char *digits, size_t len)
{
    struct parser *p = ctx;
    struct json *value = new_value(p, JSON_NUMBER);

    if (!value)
        return 0;
    /* yajl reports a number that ends the text late, when it counts from 0 again. */
    value->end = p->prev_end = value->start + len;
    value->text = arena_strndup(&p->doc->arena, digits, len);
    value->len = len;
    return value->text ? attach(p, value) : out_of_memory(p);
}

static uint32_t hex4(const char *digits)
{
    uint32_t code = 0;

    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        code = code << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return code;
}

/*
 * Returns the character of the \u escape at *at, and moves *at behind it (and behind the other half
 * of a pair).
 */
static uint32_t escaped_character(const char *raw, size_t len, size_t *at)
{
    uint32_t code = hex4(raw + *at + 2);

    *at += 6;
    if (code < 0xd800 || code > 0xdfff)
        return code;
    if (code < 0xdc00 && len - *at >= 6 && memcmp(raw + *at, "\\u", 2) == 0) {
        uint32_t low = hex4(raw + *at + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *at += 6;
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return 0xfffd;
}

/*
 * Returns the text of the string token from start to end (with its quotes), and its length in
 * *out_len. yajl has checked the escapes, but turns half a surrogate pair into bytes that are not
 * UTF-8; here it becomes U+FFFD, as Go, and so runc, reads it.
 */
static const char *unescape(struct parser *p, size_t start, size_t end, size_t *out_len)
{
    static const char codes[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *raw = p->doc->text + start + 1;
    size_t len = end - start - 2, n = 0;
    char *out = arena_strndup(&p->doc->arena, raw, len);

    *out_len = len;
    if (!out || !memchr(raw, '\\', len))
        return out;
    for (size_t i = 0; i < len;) {
        if (raw[i] != '\\') {
            out[n++] = raw[i++];
        } else if (raw[i + 1] == 'u') {
            n += utf8_encode(escaped_character(raw, len, &i), out + n);
        } else {
            const char *code = strchr(codes, raw[i + 1]);
            out[n++] = code ? meant[code - codes] : raw[i + 1];
            i += 2;
        }
    }
    out[n] = '\0';
    *out_len = n;
    return out;
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
    struct parser *p = ctx;
    struct json *value = new_value(p, JSON_STRING);

    (void)text, (void)len;
    if (!value)
        return 0;
    value->text = unescape(p, value->start, value->end, &value->len);
    return value->text ? attach(p, value) : out_of_memory(p);
}

static int open_container(struct parser *p, enum json_type type)
{
    struct json *value;

    if (p->depth == p->max_depth)
        return fail_at(p, token_start(p), ERR_LIMIT, "nested too deeply");
    value = new_value(p, type);
    if (!value || !attach(p, value))
        return 0;
    value->cap = p->open.len;
    p->depth++;
    p->container = value;
    return 1;
}

/*
 * Moves the elements of the open container into its own list. `size` is that of an item or of a
 * member.
 */
static int close_container(struct parser *p, size_t size)
{
    struct json *value = p->container;
    size_t begin = value->cap, bytes = p->open.len - begin;

    value->len = value->cap = bytes / size;
    if (bytes) {
        void *list = arena_alloc(&p->doc->arena, bytes);
        if (!list)
            return out_of_memory(p);
        memcpy(list, p->open.data + begin, bytes);
        if (value->type == JSON_ARRAY)
            value->items = list;
        else
            value->members = list;
        p->open.len = begin;
    }
    value->end = p->prev_end = yajl_get_bytes_consumed(p->yajl);
    p->container = value->parent;
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

    (void)key, (void)len;
    p->key.key_start = token_start(p);
    p->prev_end = yajl_get_bytes_consumed(p->yajl);
    p->key.key = unescape(p, p->key.key_start, p->prev_end, &p->key.key_len);
    return p->key.key ? 1 : out_of_memory(p);
}

static bool same_key(const struct json_member *a, const struct json_member *b)
{
    return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

/* Compares each with all before it. */
static const struct json_member *find_among_few(const struct json_member *m, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (same_key(&m[k], &m[i]))
                return &m[i];
    return NULL;
}

/* Returns the second member of a name that occurs twice, or NULL. *failed: out of memory. */
static const struct json_member *find_duplicate(const struct json_member *m, size_t count,
                                                bool *failed)
{
    enum { FEW = 8 };
    const struct hash_key key = hash_key();
    size_t size = 4 * FEW;

    *failed = false;
    if (count <= FEW)
        return find_among_few(m, count);
    while (size < count * 2)
        size *= 2;
    _cleanup_free_ uint32_t *slots = calloc(size, sizeof(*slots));
    if (!slots || count > UINT32_MAX / 2) {
        *failed = true;
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)hash_bytes_by(&key, m[i].key, m[i].key_len, 0) & (size - 1);
        while (slots[at]) {
            if (same_key(&m[slots[at] - 1], &m[i]))
                return &m[i];
            at = (at + 1) & (size - 1);
        }
        slots[at] = (uint32_t)i + 1;
    }
    return NULL;
}

static int on_end_map(void *ctx)
{
    struct parser *p = ctx;
    size_t begin = p->container->cap;
    size_t count = (p->open.len - begin) / sizeof(struct json_member);

    if (p->unique_keys && count > 1) {
        bool failed;
        const struct json_member *twice =
            find_duplicate((const void *)(p->open.data + begin), count, &failed);
        if (failed)
            return out_of_memory(p);
        if (twice)
            return fail_at(p, twice->key_start, ERR_FORMAT, "this key is given twice");
    }
    return close_container(p, sizeof(struct json_member));
}

static int on_start_array(void *ctx)
{
    return open_container(ctx, JSON_ARRAY);
}

static int on_end_array(void *ctx)
{
    return close_container(ctx, sizeof(struct json *));
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

/* Reports yajl's message, "lexical error: reason\n" or "parse error: reason\n". */
static void syntax_error(struct parser *p)
{
    size_t at = token_start(p);
    unsigned char *text = yajl_get_error(p->yajl, 0, NULL, 0);
    char reason[160];

    snprintf(reason, sizeof(reason), "%s", text ? (char *)text : "not JSON");
    reason[strcspn(reason, "\n")] = '\0';
    if (text)
        yajl_free_error(p->yajl, text);
    if (at == p->doc->len && at > 0)
        at--; /* the last byte rather than a line behind the end */
    fail_at(p, at, ERR_FORMAT, reason);
}

static int parse_text(struct parser *p, struct err *err)
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
    /* yajl overlooks a string or a comment that begins behind the document and never ends. */
    if (token_start(p) < p->doc->len) {
        fail_at(p, token_start(p), ERR_FORMAT, "parse error: trailing garbage");
        return -1;
    }
    return 0;
}

/*
 * Refuses what yajl lets pass and other readers would read differently: overlong forms and encoded
 * surrogates.
 */
static int check_utf8(struct parser *p)
{
    const char *text = p->doc->text;
    size_t len = p->doc->len, run;

    for (size_t i = utf8_ascii(text, len); i < len; i += utf8_ascii(text + i, len - i)) {
        run = utf8_sequence(text + i, len - i);
        if (!run) {
            fail_at(p, i, ERR_FORMAT, "not UTF-8");
            return -1;
        }
        i += run;
    }
    return 0;
}

/*
 * Parses doc->text. `open` is reserved at once: memory that is not touched costs nothing, but
 * growing would copy.
 */
static int parse_document(struct json_doc *doc, const struct json_options *o, struct err *err)
{
    enum { MOST_OPEN = 64 * 1024 };
    struct parser p = {
        .doc = doc,
        .max_depth = o->max_depth ? o->max_depth : JSON_DEFAULT_DEPTH,
        .unique_keys = o->unique_keys,
        .comments = o->comments,
        .err = err,
    };

    p.yajl = yajl_alloc(&callbacks, NULL, &p);
    if (!p.yajl)
        return err_nomem(err);
    yajl_config(p.yajl, yajl_allow_comments, o->comments ? 1 : 0);
    buf_reserve(&p.open, doc->len < MOST_OPEN ? doc->len : MOST_OPEN);
    int rc = check_utf8(&p) < 0 ? -1 : parse_text(&p, err);
    yajl_free(p.yajl);
    buf_free(&p.open);
    return rc;
}

struct json_doc *json_parse_buf(struct buf *text, const struct json_options *options,
                                struct err *err)
{
    static const struct json_options defaults = {0};
    const struct json_options *o = options ? options : &defaults;
    size_t max_bytes = o->max_bytes ? o->max_bytes : JSON_DEFAULT_BYTES;

    if (text->len > max_bytes) {
        err_set(err, ERR_LIMIT, "JSON of %zu bytes, more than %zu", text->len, max_bytes);
        return NULL;
    }
    _cleanup_json_ struct json_doc *doc = calloc(1, sizeof(*doc));
    if (!doc) {
        err_nomem(err);
        return NULL;
    }
    /* A text takes at most 57 bytes of memory a byte, for "[0,0,…". */
    if (o->max_memory)
        doc->arena.limit = o->max_memory + JSON_EDIT_BYTES;
    else if (max_bytes < SIZE_MAX / 128)
        doc->arena.limit = max_bytes * 64 + JSON_EDIT_BYTES;
    doc->len = text->len;
    doc->text = buf_take(text, err);
    return doc->text && parse_document(doc, o, err) == 0 ? steal_ptr(&doc) : NULL;
}

struct json_doc *json_parse(const char *text, size_t len, const struct json_options *options,
                            struct err *err)
{
    size_t max_bytes = options && options->max_bytes ? options->max_bytes : JSON_DEFAULT_BYTES;
    _cleanup_buf_ struct buf copy = BUF_INIT;

    if (len <= max_bytes) /* a text that is too long is refused by its length */
        buf_append(&copy, text, len);
    else
        copy.len = len;
    return json_parse_buf(&copy, options, err);
}
