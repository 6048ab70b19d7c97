#include "base/diff.h"

#include <stdbool.h>
#include <string.h>

enum { AROUND = 3 };

struct lines {
    const char *text;
    size_t len;
};

/* The length of the line at `at`, with its newline. */
static size_t line_at(const struct lines *l, size_t at)
{
    const char *newline = memchr(l->text + at, '\n', l->len - at);

    return newline ? (size_t)(newline - l->text) + 1 - at : l->len - at;
}

/* Where the line begins that ends at `end`, which is not 0. */
static size_t line_before(const struct lines *l, size_t end)
{
    const char *newline = end > 1 ? memrchr(l->text, '\n', end - 1) : NULL;

    return newline ? (size_t)(newline - l->text) + 1 : 0;
}

static size_t count_lines(const struct lines *l, size_t from, size_t to)
{
    size_t count = 0;

    for (; from < to; from += line_at(l, from))
        count++;
    return count;
}

static void put_lines(struct buf *out, char mark, const struct lines *l, size_t from, size_t to)
{
    while (from < to) {
        size_t len = line_at(l, from);
        buf_putc(out, mark);
        buf_append(out, l->text + from, len);
        if (l->text[from + len - 1] != '\n')
            buf_puts(out, "\n\\ No newline at end of file\n");
        from += len;
    }
}

static size_t same_at_start(const struct lines *a, const struct lines *b)
{
    size_t at = 0;

    while (at < a->len && at < b->len) {
        size_t len = line_at(a, at);
        if (len != line_at(b, at) || memcmp(a->text + at, b->text + at, len) != 0)
            break;
        at += len;
    }
    return at;
}

/* How many bytes of whole lines are the same at the end, beyond `start`. */
static size_t same_at_end(const struct lines *a, const struct lines *b, size_t start)
{
    size_t same = 0;

    while (a->len - same > start && b->len - same > start) {
        size_t len = a->len - same - line_before(a, a->len - same);
        if (len != b->len - same - line_before(b, b->len - same) || len > b->len - same - start ||
            memcmp(a->text + a->len - same - len, b->text + b->len - same - len, len) != 0)
            break;
        same += len;
    }
    return same;
}

static void put_range(struct buf *out, char mark, const struct lines *l, size_t from, size_t to)
{
    size_t count = count_lines(l, from, to);

    /* An empty range is named by the line before it. */
    buf_printf(out, "%c%zu,%zu", mark, count_lines(l, 0, from) + (count > 0), count);
}

void diff_unified(const char *path, const struct buf *before, const struct buf *after,
                  struct buf *out)
{
    struct lines a = {before && before->data ? before->data : "", before ? before->len : 0};
    struct lines b = {after && after->data ? after->data : "", after ? after->len : 0};
    size_t start = same_at_start(&a, &b);

    if (start == a.len && start == b.len && !before == !after)
        return;
    size_t same = same_at_end(&a, &b, start), from = start, to = a.len - same, tail = 0;
    for (int i = 0; i < AROUND && from > 0; i++)
        from = line_before(&a, from);
    for (int i = 0; i < AROUND && to + tail < a.len; i++)
        tail += line_at(&a, to + tail);
    buf_printf(out, "--- %s\n+++ %s\n", before ? path : "/dev/null", after ? path : "/dev/null");
    if (start == a.len && start == b.len)
        return;
    buf_puts(out, "@@ ");
    put_range(out, '-', &a, from, to + tail);
    buf_putc(out, ' ');
    put_range(out, '+', &b, from, b.len - same + tail);
    buf_puts(out, " @@\n");
    put_lines(out, ' ', &a, from, start);
    put_lines(out, '-', &a, start, to);
    put_lines(out, '+', &b, start, b.len - same);
    put_lines(out, ' ', &a, to, to + tail);
}
