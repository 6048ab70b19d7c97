/* Sizes, shares and texts for people to read. */
#ifndef BASE_HUMAN_H
#define BASE_HUMAN_H

#include "base/buf.h"

#include <stdint.h>

enum { HUMAN_SIZE = 16 }; /* bytes of a size as text */

/*
 * Writes "0 B", "999 B", "1.2 kB", "38.4 GB": powers of 1000, as tools for images print them.
 * Returns out.
 */
const char *human_size(uint64_t bytes, char out[HUMAN_SIZE]);

/* Writes "412.3 MiB": powers of 1024, as the sizes in a policy and of --max-size. Returns out. */
const char *human_size_binary(uint64_t bytes, char out[HUMAN_SIZE]);

/* Returns the part of a whole in per cent; 0 if the whole is 0. */
double human_share(uint64_t part, uint64_t whole);

/*
 * Appends the text in printable form. One longer than `most` bytes is cut behind the character that
 * reaches that length, and gets a "…".
 */
void human_put_short(struct buf *out, const char *text, size_t most);

/*
 * Appends a word as a shell reads it (POSIX, Shell Command Language 2.2): in single quotes, unless
 * all of its characters are plain. Control characters stay: the writer of the message escapes them.
 */
void human_put_word(struct buf *out, const char *word);

/* Returns the ending of a noun after a number: "" for 1, else "s". */
static inline const char *human_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Returns the ending of "entr" after a number: "y" for 1, else "ies". */
static inline const char *human_y(uint64_t count)
{
    return count == 1 ? "y" : "ies";
}

#endif
