#include "flatten/carve/owners/json_scan.h"

#include "base/utf8.h"

#include <string.h>

enum { HEX_DIGITS = 4 };

bool json_scan_open(struct json_scan *s, struct finder *f, uint32_t node)
{
    s->piece_len = s->piece_at = 0;
    s->expects_key = false;
    s->depth = 0;
    s->opened = 0;
    s->member[0] = '\0';
    return lines_open(f, node, &s->lines);
}

/* Returns 1 with the next byte, 0 at the end, or -1. */
static int next_byte(struct json_scan *s, char *byte, struct err *err)
{
    if (s->piece_at == s->piece_len) {
        int rc = lines_piece(&s->lines, &s->piece, &s->piece_len, err);
        s->piece_at = 0;
        if (rc <= 0)
            return rc;
    }
    *byte = s->piece[s->piece_at++];
    return 1;
}

static void add_bytes(struct json_scan *s, const char *bytes, size_t len)
{
    if (s->len + len > sizeof(s->text))
        s->ignores_text = true;
    if (s->ignores_text)
        return;
    memcpy(s->text + s->len, bytes, len);
    s->len += len;
}

/* Reads four digits. Returns 1, 0 if they are none or the end, or -1. */
static int read_unit(struct json_scan *s, uint32_t *unit, struct err *err)
{
    static const char digits[] = "0123456789abcdef";
    int rc = 1;
    char c;

    *unit = 0;
    for (int i = 0; i < HEX_DIGITS && (rc = next_byte(s, &c, err)) > 0; i++) {
        const char *digit = memchr(digits, c | 0x20, sizeof(digits) - 1);
        if (!digit) {
            s->piece_at--; /* it may be the quote that ends the text */
            return 0;
        }
        *unit = *unit * 16 + (uint32_t)(digit - digits);
    }
    return rc;
}

/* Reads "\uXXXX" behind its "u". Both halves of a pair must follow each other. */
static int read_unicode(struct json_scan *s, struct err *err)
{
    uint32_t code;
    char utf8[4];
    int rc = read_unit(s, &code, err);
    bool is_high = code >= 0xd800 && code < 0xdc00, is_low = code >= 0xdc00 && code < 0xe000;

    if (rc <= 0 || is_low != (s->high != 0 && s->high_at == s->len)) {
        s->ignores_text = true;
        return rc < 0 ? -1 : 0;
    }
    if (is_high) {
        s->high = code;
        s->high_at = s->len;
        return 0;
    }
    if (is_low)
        code = 0x10000 + ((s->high - 0xd800) << 10) + (code - 0xdc00);
    s->high = 0;
    add_bytes(s, utf8, utf8_encode(code, utf8));
    return 0;
}

static int read_escape(struct json_scan *s, struct err *err)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char c;
    int rc = next_byte(s, &c, err);

    if (rc <= 0)
        return rc;
    if (c == 'u')
        return read_unicode(s, err);
    const char *found = memchr(from, c, sizeof(from) - 1);
    add_bytes(s, found ? &to[found - from] : &c, 1);
    return 0;
}

/* Reads a text behind its opening quote. Returns 1, 0 at the end, or -1. */
static int read_text(struct json_scan *s, struct err *err)
{
    char c;
    int rc;

    s->len = 0;
    s->high = 0;
    s->ignores_text = s->depth > 2;
    while ((rc = next_byte(s, &c, err)) > 0 && c != '"') {
        if (c != '\\')
            add_bytes(s, &c, 1);
        else if (read_escape(s, err) < 0)
            return -1;
    }
    s->ignores_text |= s->high != 0;
    return rc;
}

static void take_key(struct json_scan *s)
{
    bool fits = !s->ignores_text && s->len < sizeof(s->member) && !memchr(s->text, '\0', s->len);

    memcpy(s->member, s->text, fits ? s->len : 0);
    s->member[fits ? s->len : 0] = '\0';
    s->expects_key = false;
}

/* Takes a byte outside of texts. */
static void take_mark(struct json_scan *s, char c)
{
    if (c == '{' || c == '[') {
        if (++s->depth == 1)
            s->expects_key = c == '{';
        else if (s->depth == 2)
            s->opened = c;
    } else if ((c == '}' || c == ']') && s->depth > 0) {
        s->depth--;
    } else if (c == ',' && s->depth == 1) {
        s->expects_key = true;
    }
}

int json_scan_next(struct json_scan *s, struct err *err)
{
    char c;
    int rc;

    while ((rc = next_byte(s, &c, err)) > 0) {
        if (c != '"') {
            take_mark(s, c);
            continue;
        }
        if ((rc = read_text(s, err)) <= 0)
            return rc;
        if (s->depth == 1 && s->expects_key)
            take_key(s);
        else if (!s->ignores_text && s->depth > 0)
            return 1;
    }
    return rc;
}
