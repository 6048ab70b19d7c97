/* The cheapest items that are worth enough together. */
#ifndef FLATTEN_COVER_H
#define FLATTEN_COVER_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cover_item {
    uint64_t cost, worth;
};

/*
 * Sets chosen[i] for the items that cost the least of all whose worths make `need` or more; all, if
 * these do not suffice. A worth is rounded down to a 4096th of `need`.
 */
int cover_choose(const struct cover_item *items, size_t count, uint64_t need, bool *chosen,
                 struct err *err) must_check;

#endif
