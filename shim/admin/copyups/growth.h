/* The growth of an upper directory since it was last read. Pure. */
#ifndef SHIM_GROWTH_H
#define SHIM_GROWTH_H

#include "shim/admin/copyups/tally.h"

/*
 * Returns the one of the largest directories that has grown most, and by how many bytes; of equals
 * the deepest. NULL if none has grown. Borrowed from `now`.
 */
const struct tally_directory *growth_find(const struct tally *before, const struct tally *now,
                                          uint64_t *by);

#endif
