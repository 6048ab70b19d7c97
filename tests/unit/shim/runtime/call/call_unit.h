/* Command lines as one text, for the tests of how they are read. */
#ifndef CALL_UNIT_H
#define CALL_UNIT_H

#include "tests/unit/lib/unit.h"

#include "shim/runtime/call/call_read.h"

enum { MOST_WORDS = 24 };

/* Splits a line at its spaces, in place; '' is an empty word. Returns the number of words. */
static inline int split(char *line, char *words[MOST_WORDS])
{
    int count = 0;
    char *rest = line, *word;

    while ((word = strsep(&rest, " ")))
        if (count < MOST_WORDS - 1)
            words[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
    words[count] = NULL;
    return count;
}

/* Reads a line with call_read. The texts of *call are valid until the next line. */
static inline int read_line(const char *line, enum lowlevel_flavor flavor, struct call *call,
                            struct err *err)
{
    static char copy[512];
    char *words[MOST_WORDS];

    snprintf(copy, sizeof(copy), "%s", line);
    return call_read(*line ? split(copy, words) : 0, words, flavor, call, err);
}

#endif
