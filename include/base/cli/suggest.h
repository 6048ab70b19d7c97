/* "Did you mean …?": the nearest of a list of names, for mistyped keys, options and commands. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/*
 * Returns the name nearest to `word` by edits of single bytes (a swap of neighbours counts as one),
 * or NULL if none is near enough to be meant. NULL entries in the list are skipped.
 */
const char *suggest_nearest(const char *word, const char *const *names, size_t count);

#endif
