#include "base/size.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const char units[] = "kmgt";

bool size_parse(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    unsigned shift = 0;
    const char *p = text;

    for (; isdigit((unsigned char)*p); p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return false;
    if (p == text)
        return false;
    const char *unit = *p ? strchr(units, tolower((unsigned char)*p)) : NULL;
    if (unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        p++;
        p += *p == 'i' || *p == 'I';
    }
    if (*p || value > (uint64_t)INT64_MAX >> shift)
        return false;
    *out = value << shift;
    return true;
}

void size_print(uint64_t bytes, struct buf *out)
{
    size_t unit = 0;

    if (bytes == SIZE_UNLIMITED) {
        buf_puts(out, "unlimited");
        return;
    }
    while (bytes && bytes % 1024 == 0 && unit < sizeof(units) - 1) {
        bytes /= 1024;
        unit++;
    }
    buf_printf(out, "%" PRIu64, bytes);
    if (unit)
        buf_putc(out, units[unit - 1]);
}
