/* Numbers for people. */
#ifndef FLATTEN_HUMAN_H
#define FLATTEN_HUMAN_H

#include "base/buf.h"

#include <stdint.h>

enum { HUMAN_SIZE = 16 };

/* "0 B", "999 B", "1.2 kB", "38.4 GB": powers of 1000, as tools for images have it. */
const char *human_size(uint64_t bytes, char out[HUMAN_SIZE]);

/* Part of a whole in per cent; 0 of nothing. */
double human_share(uint64_t part, uint64_t whole);

/* At most `most` bytes for a person to read, cut with "…" where there are more. */
void human_put_short(struct buf *out, const char *text, size_t most);

#endif
