#include "base/cli/columns.h"

#include <string.h>
#include <sys/ioctl.h>
#include <wchar.h>

enum { GAP = 2, INDENT = 4 };

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
    struct winsize size;

    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

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

static void put_row(const struct columns_row *row, const size_t *widths, size_t count,
                    size_t terminal, struct buf *out)
{
    size_t column = 0, last = count;

    while (last && !(row->cells[last - 1] && *row->cells[last - 1]))
        last--;
    for (size_t i = 0; i < last; i++) {
        size_t width = cell_width(row->cells[i]);
        if (i && i == count - 1 && terminal && column + width > terminal) {
            while (out->len && out->data[out->len - 1] == ' ')
                buf_truncate(out, out->len - 1);
            buf_printf(out, "\n%*s", INDENT, "");
        }
        if (i == 0 && row->colour)
            buf_printf(out, "\033[%sm", row->colour);
        put_cell(out, row->cells[i]);
        if (i == 0 && row->colour)
            buf_puts(out, "\033[0m");
        if (i + 1 < last)
            buf_printf(out, "%*s", (int)(widths[i] - width) + GAP, "");
        column += widths[i] + GAP;
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
