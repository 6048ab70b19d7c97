/*
 * A growing byte string whose failure is sticky: append as often as needed, check once with
 * buf_check.
 *
 * `data` is NUL-terminated whenever it is not NULL. The owner calls buf_free, or takes the string
 * with buf_take. A zeroed struct is an empty buffer.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;
    size_t len; /* bytes, without the final NUL */
    size_t cap;
    bool failed; /* an allocation failed: content is incomplete */
};

#define BUF_INIT                                                                                   \
    {                                                                                              \
        0                                                                                          \
    }

/* Appends bytes. */
void buf_append(struct buf *b, const void *data, size_t len);
/* Appends a NUL-terminated text. */
void buf_puts(struct buf *b, const char *text);
/* Appends one byte. */
void buf_putc(struct buf *b, char c);
/* Appends formatted text, as printf. */
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends formatted text, as vprintf. */
void buf_vprintf(struct buf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/*
 * Appends `text` for a person to read: control bytes and bytes that are not UTF-8 become \xNN, so
 * that a hostile name cannot steer a terminal or forge a second log line.
 */
void buf_put_printable(struct buf *b, const char *text, size_t len);

/*
 * Makes room for `more` bytes behind len and returns where they go; NULL (and `failed`) without
 * memory. The caller then adds to len what it wrote.
 */
char *buf_reserve(struct buf *b, size_t more);

/* Returns true if both hold the same bytes. */
bool buf_equal(const struct buf *a, const struct buf *b);

/* Cuts the text to `len` bytes; does nothing if it is shorter. */
void buf_truncate(struct buf *b, size_t len);
/* Frees the text and empties the buffer. Safe on an empty one. */
void buf_free(struct buf *b);

/* Returns 0, or -1 with an out-of-memory error if any append failed. */
int buf_check(const struct buf *b, struct err *err) must_check;

/* Returns the string, which the caller frees, and empties the buffer; NULL if an append failed. */
char *buf_take(struct buf *b, struct err *err) must_check;

/* Formats into a fresh string that the caller frees. Returns NULL without memory. */
char *strf(const char *format, ...) __attribute__((format(printf, 1, 2))) must_check;

#define _cleanup_buf_ _cleanup_(buf_free)

#endif
