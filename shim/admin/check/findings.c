#include "shim/admin/check/findings.h"

#include "base/cli/columns.h"
#include "base/fdio.h"

#include <fcntl.h>
#include <string.h>

const char *const finding_level_names[FINDING_LEVELS] = {"note", "warning", "error"};

static struct finding *add_finding(struct findings *f)
{
    if (f->count == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 16;
        struct finding *list = reallocarray(f->list, cap, sizeof(*list));
        if (!list) {
            f->failed = true;
            return NULL;
        }
        f->list = list;
        f->cap = cap;
    }
    struct finding *finding = &f->list[f->count++];
    *finding = (struct finding){.message = ""};
    return finding;
}

static const char *keep_text(struct findings *f, const char *text, size_t len)
{
    const char *copy = text ? arena_strndup(&f->arena, text, len) : NULL;

    f->failed = f->failed || !copy;
    return copy ? copy : "";
}

/* Returns the new finding; NULL without memory. */
__attribute__((format(printf, 4, 0))) static struct finding *
add_text(struct findings *f, enum finding_level level, const char *rule, const char *format,
         va_list args)
{
    struct finding *finding = add_finding(f);
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!finding)
        return NULL;
    buf_vprintf(&text, format, args);
    finding->level = level;
    finding->rule = rule;
    finding->message = keep_text(f, text.failed ? NULL : text.data, text.len);
    return finding;
}

void findings_add(struct findings *f, enum finding_level level, const char *rule,
                  const struct policy_place *place, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct finding *finding = add_text(f, level, rule, format, args);
    va_end(args);
    if (finding && place && place->file) {
        finding->file = keep_text(f, place->file->path, strlen(place->file->path));
        json_position(place->file->doc, place->offset, &finding->line, &finding->column);
    }
}

void findings_add_file(struct findings *f, enum finding_level level, const char *rule,
                       const char *file, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct finding *finding = add_text(f, level, rule, format, args);
    va_end(args);
    if (finding)
        finding->file = keep_text(f, file, strlen(file));
}

/*
 * Reads the place at the beginning of "FILE:LINE:COLUMN: text". Returns the rest; NULL if there is
 * no place.
 */
static const char *take_place(const char *text, size_t *file_len, unsigned *line, unsigned *column)
{
    for (const char *p = strchr(text, ':'); p; p = strchr(p + 1, ':')) {
        int used = 0;
        if (sscanf(p, ":%9u:%9u: %n", line, column, &used) == 2 && used) {
            *file_len = (size_t)(p - text);
            return p + used;
        }
    }
    return NULL;
}

void findings_add_error(struct findings *f, const struct err *err)
{
    struct finding *finding = add_finding(f);
    size_t len = 0;
    unsigned line, column;

    if (!finding)
        return;
    finding->level = FINDING_ERROR;
    finding->rule = "policy";
    const char *rest = take_place(err->msg, &len, &line, &column);
    if (rest) {
        finding->file = keep_text(f, err->msg, len);
        finding->line = line;
        finding->column = column;
    }
    finding->message = keep_text(f, rest ? rest : err->msg, strlen(rest ? rest : err->msg));
}

size_t findings_count(const struct findings *f, enum finding_level level)
{
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++)
        count += f->list[i].level == level;
    return count;
}

/* ---- the line of a finding ---- */

enum { MOST_BEFORE = 60, MOST_SHOWN = 120 };

/* Finds the bounds of a line; false if the text has no such line. */
static bool find_line(const struct buf *text, unsigned line, const char **start, size_t *len)
{
    const char *at = text->data, *end = text->data + text->len;

    for (; line > 1; line--) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at++)
            return false;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *start = at;
    *len = (size_t)((stop ? stop : end) - at);
    return true;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Appends source text printably, tabs as blanks, so that the caret stays in its column. */
static void put_source(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        n = 1;
        while (text[i] != '\t' && i + n < len && text[i + n] != '\t')
            n++;
        if (text[i] == '\t')
            buf_putc(out, ' ');
        else
            buf_put_printable(out, text + i, n);
    }
}

static void put_caret(struct buf *out, const char *line, size_t len, unsigned column)
{
    _cleanup_buf_ struct buf before = BUF_INIT;
    size_t at = column - 1 > len ? len : column - 1;
    size_t from = at > MOST_BEFORE ? at - MOST_BEFORE : 0;
    size_t to = len - from > MOST_SHOWN ? from + MOST_SHOWN : len;

    while (from < at && continues(line[from]))
        from++;
    while (to > at && to < len && continues(line[to]))
        to--;
    put_source(&before, line + from, at - from);
    buf_puts(out, "    ");
    put_source(out, line + from, to - from);
    buf_printf(out, "\n    %*s^\n", (int)columns_width(before.data ? before.data : "", before.len),
               "");
}

static void put_excerpt(const struct finding *finding, struct buf *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    const char *line;
    size_t len;

    if (file_read(AT_FDCWD, finding->file, POLICY_FILE_BYTES, &text, &ignored) < 0 || !text.data)
        return;
    if (find_line(&text, finding->line, &line, &len))
        put_caret(out, line, len, finding->column);
}

void finding_print(const struct finding *finding, bool colour, struct buf *out)
{
    static const char *const colours[] = {"\033[36m", "\033[33m", "\033[31m"};

    if (finding->file) {
        buf_put_printable(out, finding->file, strlen(finding->file));
        if (finding->line)
            buf_printf(out, ":%u:%u", finding->line, finding->column);
        buf_puts(out, ": ");
    }
    buf_printf(out, "%s%s:%s ", colour ? colours[finding->level] : "",
               finding_level_names[finding->level], colour ? "\033[0m" : "");
    buf_put_printable(out, finding->message, strlen(finding->message));
    buf_printf(out, " [%s]\n", finding->rule);
    if (finding->line)
        put_excerpt(finding, out);
}

struct json *finding_json(const struct finding *finding, struct json_doc *doc)
{
    struct json *object = json_object(doc);

    json_set(doc, object, "level", json_string(doc, finding_level_names[finding->level]));
    json_set(doc, object, "rule", json_string(doc, finding->rule));
    if (finding->file)
        json_set(doc, object, "file", json_string(doc, finding->file));
    if (finding->line) {
        json_set(doc, object, "line", json_number(doc, finding->line));
        json_set(doc, object, "column", json_number(doc, finding->column));
    }
    json_set(doc, object, "message", json_string(doc, finding->message));
    return object;
}

void findings_free(struct findings *f)
{
    arena_free(&f->arena);
    free(f->list);
    *f = (struct findings){0};
}
