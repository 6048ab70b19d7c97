/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the valid sequence that starts at text, or 0 if none does (or len is 0). */
size_t utf8_sequence(const char *text, size_t len);

/* True if all of text is valid UTF-8. */
bool utf8_valid(const char *text, size_t len);

#endif
