#include "shim/warm/record/warm_record.h"

#include "base/path.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

static const char heading[] = "flatbed warm 1";

enum { OFFSET_DIGITS = 18, RANGES_OF_FILE = 4096 }; /* 10^18 is less than 2^63 */

/* ---- writing ---- */

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void print_file(const struct warm_file *f, struct buf *out)
{
    buf_printf(out, "%" PRIu32 " ", f->layer);
    for (size_t i = 0; i < f->count; i++)
        buf_printf(out, "%s%" PRIu64 "+%" PRIu64, i ? "," : "", f->ranges[i].start,
                   f->ranges[i].len);
    buf_printf(out, " %s\n", f->path);
}

void warm_record_print(const struct warm_record *r, struct buf *out)
{
    buf_printf(out,
               "%s\nrecorded %" PRIu64 "\nwhole %d\njudged %" PRIu64 "\nlow %" PRIu64
               "\ngain %" PRIu64 "\n",
               heading, r->recorded, r->whole, r->judged, r->low, r->gain);
    buf_printf(out, "image %s\noff %s\nof %zu\n%s", r->image, r->off, count_lines(r->of), r->of);
    buf_printf(out, "reads %zu\n", r->count);
    for (size_t i = 0; i < r->count; i++)
        print_file(&r->files[i], out);
}

/* ---- reading ---- */

struct cursor {
    const char *at, *end;
    size_t line; /* from 1 */
    struct arena *arena;
    struct err *err;
};

static int fail(const struct cursor *c, const char *what)
{
    return err_set(c->err, ERR_FORMAT, "line %zu: expected %s", c->line, what);
}

/* Takes a number of at most 18 digits, up to `most`. */
static bool take_number(struct cursor *c, uint64_t most, uint64_t *out)
{
    const char *begin = c->at;

    for (*out = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (c->at - begin >= OFFSET_DIGITS)
            return false;
        *out = *out * 10 + (uint64_t)(*c->at - '0');
    }
    return c->at > begin && *out <= most;
}

static bool take_byte(struct cursor *c, char byte)
{
    if (c->at == c->end || *c->at != byte)
        return false;
    c->at++;
    c->line += byte == '\n';
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    size_t len = strlen(word);

    if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len) != 0)
        return false;
    c->at += len;
    return true;
}

static int take_field(struct cursor *c, const char *word, uint64_t most, uint64_t *out)
{
    return take_word(c, word) && take_number(c, most, out) && take_byte(c, '\n') ? 0
                                                                                 : fail(c, word);
}

/* Takes the rest of the line. */
static int take_text(struct cursor *c, const char **out)
{
    const char *end = memchr(c->at, '\n', (size_t)(c->end - c->at));

    if (!end || memchr(c->at, '\0', (size_t)(end - c->at)))
        return fail(c, "a text");
    *out = arena_strndup(c->arena, c->at, (size_t)(end - c->at));
    c->at = end + 1;
    c->line++;
    return *out ? 0 : err_nomem(c->err);
}

static int take_text_field(struct cursor *c, const char *word, const char **out)
{
    return take_word(c, word) ? take_text(c, out) : fail(c, word);
}

/* Takes the lines that describe the place. */
static int take_place(struct cursor *c, const char **out)
{
    uint64_t lines;
    const char *begin, *end;

    if (take_field(c, "of ", WARM_LAYERS + 1, &lines) < 0)
        return -1;
    begin = c->at;
    for (; lines; lines--) {
        end = memchr(c->at, '\n', (size_t)(c->end - c->at));
        if (!end)
            return fail(c, "a layer");
        c->at = end + 1;
        c->line++;
    }
    if (memchr(begin, '\0', (size_t)(c->at - begin)))
        return fail(c, "a layer");
    *out = arena_strndup(c->arena, begin, (size_t)(c->at - begin));
    return *out ? 0 : err_nomem(c->err);
}

/* Returns the number of ranges that the line seems to have. */
static size_t count_ranges(const struct cursor *c)
{
    size_t count = 1;

    for (const char *p = c->at; p < c->end && *p != ' '; p++)
        count += *p == ',';
    return count;
}

/* Takes ranges in ascending order, none empty. */
static int take_ranges(struct cursor *c, struct warm_record *r, size_t *total, struct warm_file *f)
{
    size_t most = count_ranges(c);
    uint64_t end = 0;

    if (most > RANGES_OF_FILE || (*total += most) > WARM_RANGES)
        return err_set(c->err, ERR_LIMIT, "line %zu: too many ranges", c->line);
    struct warm_range *ranges = arena_alloc(c->arena, most * sizeof(*ranges));
    if (!ranges)
        return err_nomem(c->err);
    do {
        struct warm_range *range = &ranges[f->count++];
        if (f->count > most || !take_number(c, INT64_MAX, &range->start) || !take_byte(c, '+') ||
            !take_number(c, INT64_MAX, &range->len) || !range->len || range->start < end)
            return fail(c, "ranges");
        end = range->start + range->len;
        r->bytes += range->len;
    } while (take_byte(c, ','));
    f->ranges = ranges;
    return 0;
}

static bool is_clean_relative(const char *path)
{
    _cleanup_buf_ struct buf clean = BUF_INIT;
    struct err ignored = ERR_INIT;
    size_t len = strlen(path);

    return len && len < PATH_MAX && path_clean(path, len, &clean, &ignored) == 0 && clean.data &&
           strcmp(clean.data, path) == 0;
}

static int take_file(struct cursor *c, struct warm_record *r, size_t *total, struct warm_file *f)
{
    uint64_t layer;

    if (!take_number(c, WARM_LAYERS, &layer) || !take_byte(c, ' '))
        return fail(c, "a layer's number");
    f->layer = (uint32_t)layer;
    if (take_ranges(c, r, total, f) < 0)
        return -1;
    if (!take_byte(c, ' '))
        return fail(c, "a path");
    if (take_text(c, &f->path) < 0)
        return -1;
    c->line--;
    if (!is_clean_relative(f->path))
        return fail(c, "a clean relative path");
    c->line++;
    return 0;
}

static int take_head(struct cursor *c, struct warm_record *r)
{
    uint64_t whole;

    if (!take_word(c, heading) || !take_byte(c, '\n'))
        return fail(c, heading);
    if (take_field(c, "recorded ", INT64_MAX, &r->recorded) < 0 ||
        take_field(c, "whole ", 1, &whole) < 0 ||
        take_field(c, "judged ", UINT32_MAX, &r->judged) < 0 ||
        take_field(c, "low ", UINT32_MAX, &r->low) < 0 ||
        take_field(c, "gain ", 100, &r->gain) < 0 || take_text_field(c, "image ", &r->image) < 0 ||
        take_text_field(c, "off ", &r->off) < 0)
        return -1;
    r->whole = whole;
    return take_place(c, &r->of);
}

int warm_record_parse(const char *text, size_t len, struct arena *arena, struct warm_record *out,
                      struct err *err)
{
    struct cursor c = {.at = text, .end = text + len, .line = 1, .arena = arena, .err = err};
    uint64_t count;
    size_t total = 0;

    *out = (struct warm_record){0};
    if (take_head(&c, out) < 0 || take_field(&c, "reads ", WARM_FILES, &count) < 0)
        return -1;
    out->files = arena_alloc(arena, (count + 1) * sizeof(*out->files));
    if (!out->files)
        return err_nomem(err);
    for (; out->count < count; out->count++)
        if (take_file(&c, out, &total, &out->files[out->count]) < 0)
            return -1;
    return c.at == c.end ? 0 : fail(&c, "the end");
}

/* ---- as values ---- */

const struct warm_file *warm_record_find(const struct warm_record *r, const char *path,
                                         uint32_t layer)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->files[i].layer == layer && strcmp(r->files[i].path, path) == 0)
            return &r->files[i];
    return NULL;
}

uint64_t warm_file_bytes(const struct warm_file *f)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < f->count; i++)
        bytes += f->ranges[i].len;
    return bytes;
}

void warm_record_sum(struct warm_record *r)
{
    r->bytes = 0;
    for (size_t i = 0; i < r->count; i++)
        r->bytes += warm_file_bytes(&r->files[i]);
}

int warm_record_judge(struct warm_record *r, unsigned gain, struct arena *arena, struct err *err)
{
    r->judged++;
    r->gain = gain;
    r->low = gain < WARM_LEAST_GAIN ? r->low + 1 : 0;
    if (r->low < WARM_LOW_GAINS)
        return 0;
    r->off =
        arena_printf(arena, "it saved %u %% of the reads, less than %d %%", gain, WARM_LEAST_GAIN);
    return r->off ? 0 : err_nomem(err);
}
