#include "base/json/json_internal.h"
#include "base/utf8.h"

#include <string.h>
#include <yajl/yajl_gen.h>

/* `failed`: yajl_gen refused something. Its states cannot go wrong while the tree is a tree. */
struct writer {
    yajl_gen gen;
    const struct json_doc *doc;
    bool failed;
};

static void check(struct writer *w, yajl_gen_status status)
{
    if (status != yajl_gen_status_ok)
        w->failed = true;
}

/*
 * Writes bytes as they are: yajl_gen_number does, with the separators that belong around a value.
 */
static void put_verbatim(struct writer *w, const char *text, size_t len)
{
    check(w, yajl_gen_number(w->gen, text, len));
}

/* Writes a key; one from an edit may hold bytes that are not UTF-8. */
static void put_key(struct writer *w, const char *text, size_t len)
{
    _cleanup_buf_ struct buf mended = BUF_INIT;

    if (!utf8_valid(text, len)) {
        for (size_t i = 0, run; i < len; i += run ? run : 1) {
            run = utf8_sequence(text + i, len - i);
            buf_append(&mended, run ? text + i : "\xef\xbf\xbd", run ? run : 3);
        }
        if (mended.failed) {
            w->failed = true;
            return;
        }
        text = mended.data;
        len = mended.len;
    }
    check(w, yajl_gen_string(w->gen, (const unsigned char *)text, len));
}

/* Writes a string from an edit as json_quote does. */
static void put_text(struct writer *w, const char *text, size_t len)
{
    _cleanup_buf_ struct buf quoted = BUF_INIT;

    json_quote(&quoted, text, len);
    if (quoted.failed)
        w->failed = true;
    else
        put_verbatim(w, quoted.data, quoted.len);
}

static void put_value(struct writer *w, const struct json *value);

static void put_object(struct writer *w, const struct json *object)
{
    check(w, yajl_gen_map_open(w->gen));
    for (size_t i = 0; i < object->len; i++) {
        const struct json_member *m = &object->members[i];
        put_key(w, m->key, m->key_len);
        put_value(w, m->value);
    }
    check(w, yajl_gen_map_close(w->gen));
}

static void put_array(struct writer *w, const struct json *array)
{
    check(w, yajl_gen_array_open(w->gen));
    for (size_t i = 0; i < array->len; i++)
        put_value(w, array->items[i]);
    check(w, yajl_gen_array_close(w->gen));
}

/* Recursion is bounded: the parser caps depth, and edits add a few levels at most. */
static void put_value(struct writer *w, const struct json *value)
{
    if (!value->modified) {
        put_verbatim(w, w->doc->text + value->start, value->end - value->start);
        return;
    }
    switch (value->type) {
    case JSON_NULL:
        check(w, yajl_gen_null(w->gen));
        break;
    case JSON_BOOL:
        check(w, yajl_gen_bool(w->gen, value->boolean));
        break;
    case JSON_NUMBER:
        put_verbatim(w, value->text, value->len);
        break;
    case JSON_STRING:
        put_text(w, value->text, value->len);
        break;
    case JSON_ARRAY:
        put_array(w, value);
        break;
    case JSON_OBJECT:
        put_object(w, value);
        break;
    }
}

static void print(void *ctx, const char *text, size_t len)
{
    buf_append(ctx, text, len);
}

int json_write(struct json_doc *doc, struct buf *out, struct err *err)
{
    enum { ADDED = 2048 }; /* bytes that edits add to most documents */

    if (doc->failed)
        return err_nomem(err);
    if (!doc->root->modified) {
        buf_append(out, doc->text, doc->len);
        return buf_check(out, err);
    }
    struct writer w = {.gen = yajl_gen_alloc(NULL), .doc = doc};
    if (!w.gen)
        return err_nomem(err);
    if (!yajl_gen_config(w.gen, yajl_gen_print_callback, print, out))
        w.failed = true;
    buf_reserve(out, doc->len + ADDED);
    put_value(&w, doc->root);
    yajl_gen_free(w.gen);
    return w.failed ? err_set(err, ERR_LIMIT, "the document cannot be written as JSON")
                    : buf_check(out, err);
}

/* Appends one character, or a byte that is part of none. */
static void quote_one(struct buf *out, const char *text, size_t run)
{
    static const char short_names[] = "\b\f\n\r\t", letters[] = "bfnrt";
    const char *known = *text ? strchr(short_names, *text) : NULL;
    uint32_t code;

    if (!run)
        buf_puts(out, "\xef\xbf\xbd");
    else if (*text == '"' || *text == '\\')
        buf_printf(out, "\\%c", *text);
    else if (known)
        buf_printf(out, "\\%c", letters[known - short_names]);
    else if (utf8_acts(text, run, &code))
        buf_printf(out, "\\u%04x", code);
    else
        buf_append(out, text, run);
}

void json_quote(struct buf *out, const char *text, size_t len)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < len;) {
        size_t run = utf8_sequence(text + i, len - i);
        quote_one(out, text + i, run);
        i += run ? run : 1;
    }
    buf_putc(out, '"');
}
