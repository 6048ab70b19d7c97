/* Base64 (RFC 4648, 4): the standard alphabet, with padding. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

#include <stdbool.h>

/* Appends the data as text. */
void base64_encode(struct buf *out, const void *data, size_t len);

/*
 * Appends the decoded text. Returns false, with nothing appended, for text that is not base64:
 * every character counts, padding is complete and unused bits are zero.
 */
bool base64_decode(struct buf *out, const char *text, size_t len) must_check;

#endif
