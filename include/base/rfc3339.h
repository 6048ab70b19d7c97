/* Times as RFC 3339 section 5.6 writes them, such as 2026-01-31T12:00:00.5+02:00. */
#ifndef BASE_RFC3339_H
#define BASE_RFC3339_H

#include <stdbool.h>
#include <time.h>

/*
 * Reads a whole text; digits after the ninth of a second's fraction are ignored. Returns false,
 * with *out unchanged, for any other form, and for a day or an hour that there is not.
 */
bool rfc3339_parse(const char *text, struct timespec *out);

#endif
