#include "base/buf.h"

#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

char *buf_reserve(struct buf *b, size_t more)
{
    size_t need;

    if (b->failed)
        return NULL;
    if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need)) {
        b->failed = true;
        return NULL;
    }
    if (!b->data || need > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < need)
            cap = cap > SIZE_MAX / 2 ? need : cap * 2;
        char *grown = realloc(b->data, cap);
        if (!grown) {
            b->failed = true;
            return NULL;
        }
        b->data = grown;
        b->cap = cap;
    }
    b->data[b->len] = '\0';
    return b->data + b->len;
}

void buf_append(struct buf *b, const void *data, size_t len)
{
    bool fits = b->data && !b->failed && len < b->cap - b->len;
    char *end = fits ? b->data + b->len : buf_reserve(b, len);

    if (!end)
        return;
    if (len)
        memcpy(end, data, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *text)
{
    buf_append(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
    buf_append(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
    enum { MOSTLY = 64 }; /* bytes; a longer text is printed twice */
    char *end = buf_reserve(b, MOSTLY);
    va_list again;

    va_copy(again, args);
    int len = end ? vsnprintf(end, b->cap - b->len, format, again) : -1;
    va_end(again);
    if (len < 0 || (size_t)len >= b->cap - b->len) {
        if (end)
            end[0] = '\0';
        if (len < 0) {
            b->failed = true;
            return;
        }
        end = buf_reserve(b, (size_t)len);
        if (!end)
            return;
        vsnprintf(end, (size_t)len + 1, format, args);
    }
    b->len += (size_t)len;
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

void buf_put_printable(struct buf *b, const char *text, size_t len)
{
    size_t i = 0;

    while (i < len) {
        unsigned char c = (unsigned char)text[i];
        size_t run = utf8_sequence(text + i, len - i);

        if (run && !utf8_acts(text + i, run, NULL)) {
            buf_append(b, text + i, run);
            i += run;
        } else {
            buf_printf(b, "\\x%02x", c);
            i++;
        }
    }
}

bool buf_equal(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

void buf_truncate(struct buf *b, size_t len)
{
    if (len < b->len) {
        b->len = len;
        b->data[len] = '\0';
    }
}

void buf_free(struct buf *b)
{
    free(b->data);
    *b = (struct buf)BUF_INIT;
}

int buf_check(const struct buf *b, struct err *err)
{
    return b->failed ? err_nomem(err) : 0;
}

char *buf_take(struct buf *b, struct err *err)
{
    if (!buf_reserve(b, 0)) {
        err_nomem(err);
        return NULL;
    }
    char *text = steal_ptr(&b->data);
    buf_free(b);
    return text;
}

char *strf(const char *format, ...)
{
    struct buf b = BUF_INIT;
    struct err err;
    va_list args;

    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    char *text = buf_take(&b, &err);
    if (!text)
        buf_free(&b);
    return text;
}
