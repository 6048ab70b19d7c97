/*
 * Amounts of bytes as people write them: digits, and k, m, g or t, which may be followed by "i", in
 * either case. All are powers of 1024, as Docker's --shm-size and mount(8) have it. Pure.
 */
#ifndef SHIM_SIZE_H
#define SHIM_SIZE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define SIZE_UNLIMITED UINT64_MAX /* as RLIM_INFINITY */

/* False if it is none, or not below 2^63. */
bool size_parse(const char *text, uint64_t *out);

/* Appends the shortest exact form: "8g", "65537", "unlimited". */
void size_print(uint64_t bytes, struct buf *out);

#endif
