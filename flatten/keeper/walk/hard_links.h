/* The files that a walk has met and that have other names: the first path of each. */
#ifndef FLATTEN_HARD_LINKS_H
#define FLATTEN_HARD_LINKS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <sys/stat.h>

struct hard_links {
    void *root; /* of a tree of tsearch(3) */
};

/*
 * Looks the file up. *origin is its first path (borrowed until hard_links_clear), or NULL if `path`
 * is the first, which is copied.
 */
int hard_links_find(struct hard_links *l, const struct stat *st, const char *path,
                    const char **origin, struct err *err) must_check;

/* Frees the paths. */
void hard_links_clear(struct hard_links *l);

#endif
