/*
 * Pages of HTML that need no other file, no network and no script: their texts come from containers
 * and from the host's users. Colours, type and boxes are those of the page of `flatten analyze`.
 */
#ifndef SHIM_PAGE_H
#define SHIM_PAGE_H

#include "base/buf.h"

/* These texts go into the page as they are. */
struct page_about {
    const char *title;
    const char *command; /* "flatbed doctor" */
    const char *style;   /* rules of CSS beyond those of all pages */
};

/* Appends the page up to its heading. */
void page_begin(const struct page_about *about, struct buf *out);

/* Appends the end of the page; `note`: HTML behind the name of the command. */
void page_end(const struct page_about *about, const char *note, struct buf *out);

/* Appends a text in printable form, at most so many bytes (human_put_short), as HTML. */
void page_put_text(struct buf *out, const char *text, size_t most);

/* Appends a cell of a table with such a text; NULL: an empty one. */
void page_put_cell(struct buf *out, const char *text, size_t most);

#endif
