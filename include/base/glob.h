/*
 * Globs, as glob(7) has them: * ? [a-z] [!a-z] [[:alpha:]], and a \ before one of these makes it
 * usual; between brackets a \ is usual itself. A / is nothing special.
 *
 * Bytes are compared. A [ without its ] stands for itself; a \ at the end matches nothing. Time is
 * at worst the product of both lengths.
 *
 * fnmatch(3) is not used: a policy must mean the same to flatbed, which sets LC_CTYPE, and to
 * flatbed-runtime, which does not, and glibc takes a \ between brackets for an escape.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/* Returns true if the glob matches the whole text, by the rules above. */
bool glob_matches(const char *glob, const char *text);

/* The same for names of files: a leading dot has to be in the glob. */
bool glob_matches_file(const char *glob, const char *name);

#endif
