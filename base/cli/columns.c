#include "base/cli/columns.h"

#include "base/utf8.h"

#include <string.h>
#include <sys/ioctl.h>
#include <wchar.h>

enum { GAP = 2, INDENT = 4, MOST_COLUMNS = 10000, LEAST_COLUMNS = 20 };

/* Returns the columns to use: text in fewer than a few cannot be read. */
static size_t usable(size_t terminal)
{
    return terminal < LEAST_COLUMNS ? LEAST_COLUMNS : terminal;
}

size_t columns_width(const char *text, size_t len)
{
    mbstate_t state = {0};
    size_t width = 0;

    while (len) {
        wchar_t c;
        size_t used = mbrtowc(&c, text, len, &state);
        if (used == 0 || used > len) { /* not a character: it shows as one column */
            state = (mbstate_t){0};
            used = 1;
            width++;
        } else {
            int w = wcwidth(c);
            width += w < 0 ? 1 : (size_t)w;
        }
        text += used;
        len -= used;
    }
    return width;
}

bool columns_colour(int fd)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(fd) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
}

size_t columns_of_terminal(int fd)
{
    const char *set = getenv("COLUMNS");
    unsigned long columns = set ? strtoul(set, NULL, 10) : 0;
    struct winsize size;

    if (!isatty(fd))
        return 0;
    if (columns && columns <= MOST_COLUMNS)
        return columns;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* ---- folding ---- */

/* The place of the next character. */
struct cursor {
    struct buf *out;
    size_t column, terminal;
};

static void break_line(struct cursor *c)
{
    while (c->out->len && c->out->data[c->out->len - 1] == ' ')
        buf_truncate(c->out, c->out->len - 1);
    buf_printf(c->out, "\n%*s", INDENT, "");
    c->column = INDENT;
}

static void put_on_line(struct cursor *c, const char *text, size_t len, size_t width)
{
    buf_append(c->out, text, len);
    c->column += width;
}

/* Appends a word. One that is longer than a line is broken between characters. */
static void put_word(struct cursor *c, const char *word, size_t len)
{
    size_t width = columns_width(word, len);

    if (c->column + width > c->terminal && c->column > INDENT)
        break_line(c);
    if (c->column + width <= c->terminal) {
        put_on_line(c, word, len, width);
        return;
    }
    while (len) {
        size_t bytes = utf8_sequence(word, len);
        bytes = bytes ? bytes : 1;
        width = columns_width(word, bytes);
        if (c->column + width > c->terminal)
            break_line(c);
        put_on_line(c, word, bytes, width);
        word += bytes;
        len -= bytes;
    }
}

static void put_words(struct cursor *c, const char *text, size_t len)
{
    while (len) {
        const char *space = memchr(text, ' ', len);
        size_t word = space ? (size_t)(space - text) : len;
        put_word(c, text, word);
        text += word;
        len -= word;
        for (; len && *text == ' '; text++, len--)
            if (c->column < c->terminal)
                put_on_line(c, " ", 1, 1);
    }
}

void columns_fold(const char *text, size_t column, size_t terminal, struct buf *out)
{
    _cleanup_buf_ struct buf shown = BUF_INIT;
    struct cursor c = {.out = out, .column = column, .terminal = usable(terminal)};

    buf_put_printable(&shown, text, strlen(text));
    out->failed = out->failed || shown.failed;
    if (terminal && !shown.failed)
        put_words(&c, shown.data ? shown.data : "", shown.len);
    else
        buf_append(out, shown.data ? shown.data : "", shown.len);
}

/* ---- rows ---- */

static void put_cell(struct buf *out, const char *text)
{
    if (text)
        buf_put_printable(out, text, strlen(text));
}

static size_t cell_width(const char *text)
{
    _cleanup_buf_ struct buf shown = BUF_INIT;

    put_cell(&shown, text);
    return shown.data ? columns_width(shown.data, shown.len) : 0;
}

/* Appends a cell behind those that are on lines of their own already, or begins these lines. */
static void put_folded(struct cursor *c, const struct buf *text, size_t width, bool first)
{
    if (!first && c->column + GAP + width <= c->terminal)
        put_on_line(c, "  ", GAP, GAP);
    else if (c->column)
        break_line(c);
    put_words(c, text->data ? text->data : "", text->len);
}

static void put_aligned(struct cursor *c, const struct buf *text, size_t width, size_t column,
                        const char *colour)
{
    buf_printf(c->out, "%*s", (int)(column - c->column), "");
    if (colour)
        buf_printf(c->out, "\033[%sm", colour);
    buf_append(c->out, text->data ? text->data : "", text->len);
    if (colour)
        buf_puts(c->out, "\033[0m");
    c->column = column + width;
}

static void put_row(const struct columns_row *row, const size_t *widths, size_t count,
                    size_t terminal, struct buf *out)
{
    struct cursor c = {.out = out, .terminal = usable(terminal)};
    size_t column = 0;
    bool folded = false;

    for (size_t i = 0; i < count; column += widths[i++] + GAP) {
        _cleanup_buf_ struct buf text = BUF_INIT;
        bool first = !folded;
        put_cell(&text, row->cells[i]);
        out->failed = out->failed || text.failed;
        if (!text.len)
            continue;
        size_t width = columns_width(text.data, text.len);
        folded = folded || (terminal && column + width > c.terminal);
        if (folded)
            put_folded(&c, &text, width, first);
        else
            put_aligned(&c, &text, width, column, i == 0 ? row->colour : NULL);
    }
    buf_putc(out, '\n');
}

void columns_print(const struct columns_row *rows, size_t row_count, size_t count, size_t terminal,
                   struct buf *out)
{
    size_t widths[COLUMNS_MOST] = {0};

    for (size_t r = 0; r < row_count; r++)
        for (size_t i = 0; i < count; i++) {
            size_t width = cell_width(rows[r].cells[i]);
            widths[i] = width > widths[i] ? width : widths[i];
        }
    for (size_t r = 0; r < row_count; r++)
        put_row(&rows[r], widths, count, terminal, out);
}
