#include "base/human.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Prints in units that are powers of `whole`; `suffix` follows the unit's letter. */
static const char *print_size(uint64_t bytes, double whole, const char *letters, const char *suffix,
                              char out[HUMAN_SIZE])
{
    double value = (double)bytes / whole;
    size_t unit = 0;

    if ((double)bytes < whole) {
        snprintf(out, HUMAN_SIZE, "%" PRIu64 " B", bytes);
        return out;
    }
    for (; value >= whole - 0.05; unit++) /* "%.1f" would round more up to the next unit */
        value /= whole;
    snprintf(out, HUMAN_SIZE, "%.1f %c%s", value, letters[unit], suffix);
    return out;
}

const char *human_size(uint64_t bytes, char out[HUMAN_SIZE])
{
    return print_size(bytes, 1000, "kMGTPE", "B", out);
}

const char *human_size_binary(uint64_t bytes, char out[HUMAN_SIZE])
{
    return print_size(bytes, 1024, "KMGTPE", "iB", out);
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

void human_put_word(struct buf *out, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";

    if (*word && word[strspn(word, plain)] == '\0') {
        buf_puts(out, word);
        return;
    }
    buf_putc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *word);
    }
    buf_putc(out, '\'');
}
