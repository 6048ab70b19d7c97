#include "base/human.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *human_size(uint64_t bytes, char out[HUMAN_SIZE])
{
    static const char units[] = "kMGTPE";
    double value = (double)bytes / 1000;
    size_t unit = 0;

    if (bytes < 1000) {
        snprintf(out, HUMAN_SIZE, "%" PRIu64 " B", bytes);
        return out;
    }
    while (value >= 999.95) {
        value /= 1000;
        unit++;
    }
    snprintf(out, HUMAN_SIZE, "%.1f %cB", value, units[unit]);
    return out;
}

double human_share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

void human_put_short(struct buf *out, const char *text, size_t most)
{
    size_t len = strlen(text), end = 0;

    if (len <= most) {
        buf_put_printable(out, text, len);
        return;
    }
    while (end < most) {
        size_t step = utf8_sequence(text + end, len - end);
        end += step ? step : 1;
    }
    buf_put_printable(out, text, end);
    buf_puts(out, "…");
}
