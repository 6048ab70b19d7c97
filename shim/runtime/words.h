/* The words of a call, as the low-level runtime gets them. */
#ifndef SHIM_WORDS_H
#define SHIM_WORDS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

enum { WORDS_MADE = 2 };

struct words {
    int argc;
    char *const *argv;      /* of main, or `own` */
    char **own;             /* owned, once anything is changed */
    char *made[WORDS_MADE]; /* the words that differ; owned */
    size_t made_count;
};

/* Returns the index of a word that was borrowed from the line, or the number of words. */
int words_index(const struct words *words, const char *word);

/*
 * Replaces a value in the word that has it; `value` must be borrowed from the line. At most
 * WORDS_MADE changes, with that of words_insert.
 */
int words_replace(struct words *words, const char *value, const char *by,
                  struct err *err) must_check;

/*
 * Puts an option, which outlives the words, and a copy of its value before a word, and before a
 * "--" there. At most once.
 */
int words_insert(struct words *words, const char *before, char *option, const char *value,
                 struct err *err) must_check;

/* Frees what the changes made. */
void words_free(struct words *words);

#endif
