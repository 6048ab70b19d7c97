#include "base/utf8.h"

#include <string.h>

/* Sets *code, and returns the length of the sequence; 0 if it is not valid. */
static size_t decode(const char *text, size_t len, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t need;
    uint32_t least;

    if (len == 0)
        return 0;
    *code = s[0];
    if (s[0] < 0x80)
        return 1;
    if ((s[0] & 0xe0) == 0xc0) {
        need = 2, *code = s[0] & 0x1f, least = 0x80;
    } else if ((s[0] & 0xf0) == 0xe0) {
        need = 3, *code = s[0] & 0x0f, least = 0x800;
    } else if ((s[0] & 0xf8) == 0xf0) {
        need = 4, *code = s[0] & 0x07, least = 0x10000;
    } else {
        return 0;
    }
    if (len < need)
        return 0;
    for (size_t i = 1; i < need; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3f);
    }
    if (*code < least || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
        return 0;
    return need;
}

size_t utf8_sequence(const char *text, size_t len)
{
    uint32_t code;

    return decode(text, len, &code);
}

bool utf8_acts(const char *text, size_t len, uint32_t *code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200e, 0x200f},
        {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff},
    };
    uint32_t found;

    if (!decode(text, len, &found))
        return false;
    if (code)
        *code = found;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
        if (found >= ranges[i].first && found <= ranges[i].last)
            return true;
    return false;
}

size_t utf8_encode(uint32_t code, char *out)
{
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = len; --i > 0; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[len] | code);
    return len;
}

size_t utf8_ascii(const char *text, size_t len)
{
    static const uint64_t high_bits = 0x8080808080808080u;
    uint64_t word;
    size_t i = 0;

    for (; len - i >= sizeof(word); i += sizeof(word)) {
        memcpy(&word, text + i, sizeof(word));
        if (word & high_bits)
            break;
    }
    while (i < len && (unsigned char)text[i] < 0x80)
        i++;
    return i;
}

bool utf8_valid(const char *text, size_t len)
{
    for (size_t i = utf8_ascii(text, len); i < len; i += utf8_ascii(text + i, len - i)) {
        size_t run = utf8_sequence(text + i, len - i);
        if (!run)
            return false;
        i += run;
    }
    return true;
}
