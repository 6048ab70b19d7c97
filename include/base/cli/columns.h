/*
 * Text in columns: untrusted text is made printable, and wide characters (CJK) count as two
 * columns. Widths come from the C library: LC_CTYPE must be a UTF-8 locale, else bytes beyond ASCII
 * may be counted wrong.
 */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns how many columns of a terminal the text takes. */
size_t columns_width(const char *text, size_t len);

/*
 * Returns true if output to this descriptor may be coloured: a terminal that can, and no NO_COLOR.
 */
bool columns_colour(int fd);

/*
 * Returns the width in columns of the terminal behind a descriptor, COLUMNS before what the
 * terminal says; 0 if it is no terminal.
 */
size_t columns_of_terminal(int fd);

/*
 * Appends a text that begins in that column. Unless `terminal` is 0, it is broken at spaces, and
 * words that are longer than a line between characters; further lines are indented.
 */
void columns_fold(const char *text, size_t column, size_t terminal, struct buf *out);

enum { COLUMNS_MOST = 8 };

struct columns_row {
    const char *cells[COLUMNS_MOST]; /* NULL: empty */
    const char *colour;              /* an SGR number for the first cell, such as "31"; or NULL */
};

/*
 * Appends rows of `count` cells each, two spaces between cells. If `terminal` is not 0, a cell that
 * would pass that column goes on an indented line with those behind it, broken as by columns_fold.
 */
void columns_print(const struct columns_row *rows, size_t row_count, size_t count, size_t terminal,
                   struct buf *out);

#endif
