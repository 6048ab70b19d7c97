/*
 * Directories that need not be in an image: model weights and datasets, which belong on mounts, and
 * caches of package managers. They are recognised by the names of files and directories.
 */
#ifndef FLATTEN_ADVICE_PATHS_H
#define FLATTEN_ADVICE_PATHS_H

#include "flatten/analyze/bytes/layer_stack.h"

enum { ADVICE_PATHS = 6 };

struct advice_path {
    uint64_t bytes;   /* of visible files of that kind, in it and below */
    const char *what; /* in words */
    uint32_t node;
    bool cache; /* a cache, else data */
};

/* Fills `out`, most bytes first. Returns how many there are, or -1. */
int advice_paths(const struct layer_stack *s, struct advice_path out[ADVICE_PATHS],
                 struct err *err) must_check;

#endif
