/* Hexadecimal digits as they are in digests, IDs and random names. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the text is `count` hexadecimal digits with small letters. Pure. */
bool hex_is(const char *text, size_t count);

#endif
