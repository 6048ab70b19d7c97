/*
 * What to do about an image, in plain words and in terms of Dockerfiles. Each piece of advice says
 * how many bytes it is about; less than a hundredth of the image, and than 50 MB, is not said.
 */
#ifndef FLATTEN_ADVICE_H
#define FLATTEN_ADVICE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct analysis;

struct advice {
    const char *kind; /* for machines: touch, delete, rebuild, replace, cache, mount, flatten,
                         depth, pyc, duplicate */
    uint64_t bytes;   /* that it would save, or that it is about; 0: it is not about bytes */
    char *text;       /* printable */
};

struct advice_list {
    struct advice *list; /* most bytes first, but what is about the whole image comes last */
    size_t count;
};

void advice_clear(struct advice_list *a);

int advice_make(const struct analysis *a, struct advice_list *out, struct err *err) must_check;

/* Adds what contents tell: duplicates and stale .pyc. */
int advice_add_contents(const struct analysis *a, struct advice_list *out,
                        struct err *err) must_check;

#endif
