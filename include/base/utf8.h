/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the length in bytes of the valid sequence that starts at text, 0 if none does or len is
 * 0.
 */
size_t utf8_sequence(const char *text, size_t len);

/*
 * Returns true if the valid sequence of `len` bytes at text would act on a screen instead of being
 * shown: control characters (C0, DEL, C1), separators of lines, the marks of the bidirectional
 * algorithm (Unicode UAX #9) and the byte order mark. Sets *code, which may be NULL, to it.
 */
bool utf8_acts(const char *text, size_t len, uint32_t *code);

/* Writes a character (at most U+10FFFF) as 1 to 4 bytes, without a NUL. Returns how many. */
size_t utf8_encode(uint32_t code, char *out);

/* Returns how many bytes of ASCII text begins with: most input is nothing else. */
size_t utf8_ascii(const char *text, size_t len);

/* Returns true if all of text is valid UTF-8. */
bool utf8_valid(const char *text, size_t len);

#endif
