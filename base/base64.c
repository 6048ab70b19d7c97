#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buf *out, const void *data, size_t len)
{
    const unsigned char *at = data;

    for (; len > 0; at += 3) {
        size_t take = len < 3 ? len : 3;
        uint32_t bits =
            (uint32_t)at[0] << 16 | (take > 1 ? (uint32_t)at[1] << 8 : 0) | (take > 2 ? at[2] : 0);
        for (size_t i = 0; i < 4; i++)
            buf_putc(out, i <= take ? alphabet[bits >> (18 - 6 * i) & 63] : '=');
        len -= take;
    }
}

/* Four characters, the last `padding` of which are '='. */
static bool decode_group(struct buf *out, const char *text, size_t padding)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < 4 - padding; i++) {
        const char *found = text[i] ? strchr(alphabet, text[i]) : NULL;
        if (!found)
            return false;
        bits |= (uint32_t)(found - alphabet) << (18 - 6 * i);
    }
    if (bits & ((1u << (8 * padding)) - 1))
        return false;
    for (size_t i = 0; i < 3 - padding; i++)
        buf_putc(out, (char)(bits >> (16 - 8 * i)));
    return true;
}

bool base64_decode(struct buf *out, const char *text, size_t len)
{
    size_t before = out->len;
    bool good = len % 4 == 0;

    for (size_t i = 0; good && i < len; i += 4) {
        bool last = i + 4 == len;
        size_t padding = last && text[i + 3] == '=' ? 1 + (text[i + 2] == '=') : 0;
        good = decode_group(out, text + i, padding);
    }
    if (!good)
        buf_truncate(out, before);
    return good;
}
