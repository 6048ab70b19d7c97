/*
 * Bounds how many symbolic links one walk follows. The kernel bounds the number of links and the
 * length of each target; here all targets together are bounded, too, or entries of a few hundred
 * bytes could each ask for a long walk.
 */
#ifndef FLATTEN_SYMLINK_BUDGET_H
#define FLATTEN_SYMLINK_BUDGET_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

enum { SYMLINK_BUDGET_LINKS = 40 }; /* as the kernel's MAXSYMLINKS */

struct symlink_budget {
    size_t count, bytes; /* of the links that were followed */
};

/* Counts one more link, whose target has `len` bytes; ERR_FORMAT beyond the bounds. */
int symlink_budget_spend(struct symlink_budget *b, size_t len, struct err *err) must_check;

#endif
