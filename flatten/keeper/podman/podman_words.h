/* The words of podman's command line. */
#ifndef FLATTEN_PODMAN_WORDS_H
#define FLATTEN_PODMAN_WORDS_H

#include "base/err.h"
#include "flatten/name/reference.h"

enum { PODMAN_MOST_WORDS = 16 };

struct podman_words {
    char *words[PODMAN_MOST_WORDS + 1]; /* owned; NULL behind the last */
    size_t count;
};

/*
 * Begins with "podman" and the options for the store of the reference; then come `words`, up to a
 * NULL, and, behind "--", `name` (may be NULL). The caller clears *out also after an error.
 */
int podman_words_make(const struct reference *store, const char *const words[], const char *name,
                      struct podman_words *out, struct err *err) must_check;

/* Frees the words. */
void podman_words_clear(struct podman_words *w);

#define _cleanup_podman_words_ _cleanup_(podman_words_clear)

#endif
