#include "base/diff.h"

#include "base/cleanup.h"

#include <stdbool.h>
#include <string.h>

enum { AROUND = 3, SURE = 3, MOST_APART = 2000 };

struct line {
    const char *text;
    size_t len; /* with its newline */
};

struct lines {
    struct line *list;
    size_t count;
};

/* Lines of `a` from a0 to a1 became those of `b` from b0 to b1. */
struct change {
    size_t a0, a1, b0, b1;
};

static bool split(const struct buf *text, struct lines *out)
{
    size_t len = text ? text->len : 0, count = 1;

    for (size_t i = 0; i < len; i++)
        count += text->data[i] == '\n';
    out->list = calloc(count, sizeof(*out->list));
    for (size_t at = 0; out->list && at < len;) {
        const char *line = text->data + at, *newline = memchr(line, '\n', len - at);
        size_t n = newline ? (size_t)(newline - line) + 1 : len - at;
        out->list[out->count++] = (struct line){line, n};
        at += n;
    }
    return out->list != NULL;
}

static bool same(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    return a->list[i].len == b->list[j].len &&
           memcmp(a->list[i].text, b->list[j].text, a->list[i].len) == 0;
}

/* True if both go on alike from there, for long enough or to their ends. */
static bool meet(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    for (int n = 0; n < SURE; n++, i++, j++) {
        if (i == a->count || j == b->count)
            return i == a->count && j == b->count;
        if (!same(a, i, b, j))
            return false;
    }
    return true;
}

/* The end of the change that begins at *at: where the fewest lines are left out. */
static void find_end(const struct lines *a, const struct lines *b, struct change *c)
{
    size_t left_a = a->count - c->a0, left_b = b->count - c->b0;

    for (size_t apart = 1; apart <= left_a + left_b && apart <= MOST_APART; apart++)
        for (size_t i = apart > left_b ? apart - left_b : 0; i <= apart && i <= left_a; i++)
            if (meet(a, c->a0 + i, b, c->b0 + apart - i)) {
                c->a1 = c->a0 + i;
                c->b1 = c->b0 + apart - i;
                return;
            }
    c->a1 = a->count;
    c->b1 = b->count;
}

/* The first change from there on; false if there is none. */
static bool next_change(const struct lines *a, const struct lines *b, size_t i, size_t j,
                        struct change *out)
{
    while (i < a->count && j < b->count && same(a, i, b, j))
        i++, j++;
    *out = (struct change){.a0 = i, .b0 = j};
    if (i == a->count && j == b->count)
        return false;
    find_end(a, b, out);
    return true;
}

/* ---- printing ---- */

static void put_lines(struct buf *out, char mark, const struct lines *l, size_t from, size_t to)
{
    for (; from < to; from++) {
        const struct line *line = &l->list[from];
        buf_putc(out, mark);
        buf_append(out, line->text, line->len);
        if (line->text[line->len - 1] != '\n')
            buf_puts(out, "\n\\ No newline at end of file\n");
    }
}

/* An empty range is named by the line before it. */
static void put_range(struct buf *out, char mark, size_t from, size_t to)
{
    buf_printf(out, "%c%zu,%zu", mark, from + (to > from), to - from);
}

/* The hunk that begins with this change, and in *c the first change behind it, if any. */
static bool put_hunk(struct buf *out, const struct lines *a, const struct lines *b,
                     struct change *c)
{
    _cleanup_buf_ struct buf body = BUF_INIT;
    size_t before = c->a0 < AROUND ? c->a0 : AROUND;
    size_t a0 = c->a0 - before, b0 = c->b0 - before, at = a0, end_a, end_b;
    bool more;

    do {
        put_lines(&body, ' ', a, at, c->a0);
        put_lines(&body, '-', a, c->a0, c->a1);
        put_lines(&body, '+', b, c->b0, c->b1);
        at = end_a = c->a1;
        end_b = c->b1;
        more = next_change(a, b, end_a, end_b, c);
    } while (more && c->a0 - end_a <= 2 * (size_t)AROUND);
    size_t after = a->count - end_a < AROUND ? a->count - end_a : AROUND;
    put_lines(&body, ' ', a, end_a, end_a + after);
    buf_puts(out, "@@ ");
    put_range(out, '-', a0, end_a + after);
    buf_putc(out, ' ');
    put_range(out, '+', b0, end_b + after);
    buf_puts(out, " @@\n");
    buf_append(out, body.data, body.len);
    out->failed = out->failed || body.failed;
    return more;
}

void diff_unified(const char *path, const struct buf *before, const struct buf *after,
                  struct buf *out)
{
    struct lines a = {0}, b = {0};
    struct change change;

    if (!split(before, &a) || !split(after, &b)) {
        out->failed = true;
    } else {
        bool more = next_change(&a, &b, 0, 0, &change);
        if (more || !before != !after)
            buf_printf(out, "--- %s\n+++ %s\n", before ? path : "/dev/null",
                       after ? path : "/dev/null");
        while (more)
            more = put_hunk(out, &a, &b, &change);
    }
    free(a.list);
    free(b.list);
}
