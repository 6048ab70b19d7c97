/*
 * The names that the layers have in one directory, as hashes: a large upper directory asks here
 * first, so that no layer is searched for each of its new files. A name that is not here is in no
 * layer; one that is may still be in none.
 */
#ifndef SHIM_NAMES_H
#define SHIM_NAMES_H

#include "shim/admin/copyups/lowers.h"

#include <stdint.h>

enum { NAMES_MOST = 1 << 20 };

struct names {
    uint64_t *slots; /* owned; 0: empty; NULL: any name may be there */
    size_t size, count;
};

/* Reads the names of all layers. Leaves the set without slots if there are too many. */
void names_read(struct names *names, const struct lowers *lowers);

/* Returns false if no layer has the name. */
bool names_may_have(const struct names *names, const char *name);

/* Frees the set. */
void names_free(struct names *names);

#define _cleanup_names_ _cleanup_(names_free)

#endif
