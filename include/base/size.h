/*
 * Amounts of bytes as text: digits, and k, m, g or t, which may be followed by "i", in either case.
 * All are powers of 1024, as in Docker's --shm-size and mount(8). Pure.
 */
#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define SIZE_UNLIMITED UINT64_MAX /* RLIM_INFINITY */

/* Reads an amount. Returns false if the text is none, or if it is 2^63 or more. */
bool size_parse(const char *text, uint64_t *out);

/* Appends the shortest exact form: "8g", "65537", "unlimited". */
void size_print(uint64_t bytes, struct buf *out);

#endif
