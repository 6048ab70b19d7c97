/*
 * The words of own_hook_mounts: the container's root, and for each mount three words: how it is
 * known, its root or type, and its mount point in the container. If the same three words are there
 * twice, two such mounts must be there.
 */
#ifndef SHIM_NESTED_HOOK_H
#define SHIM_NESTED_HOOK_H

#include "shim/oci/spec.h"

enum { NESTED_ROOT = 2, NESTED_FIRST = 3, NESTED_WORDS = 3 };

/* The first of the three words of a file system that is known by its type only. */
#define NESTED_BY_TYPE "type"

/* The arguments behind the option. */
struct nested_words {
    const char **list;
    size_t count;
};

/* Appends a word, which must live as long as the arena. */
int nested_words_add(struct nested_words *words, const char *word, struct arena *arena,
                     struct err *err) must_check;

/*
 * Puts the hook before the container's other createContainer hooks, in the place of an earlier one
 * of this program; without words it takes that out. Sets *changed if that changes anything.
 */
int nested_hook_put(const struct spec *spec, struct json_doc *doc, const struct nested_words *words,
                    bool *changed, struct err *err) must_check;

#endif
