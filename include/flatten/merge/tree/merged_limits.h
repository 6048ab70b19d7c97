/* Bounds on what a merge holds in memory. */
#ifndef FLATTEN_MERGED_LIMITS_H
#define FLATTEN_MERGED_LIMITS_H

#include "flatten/merge/tree/merged_options.h"
#include "flatten/merge/tree/tree.h"

/* The most directories that no entry describes, in all layers together. */
enum { MERGED_MOST_IMPLIED = 1 << 18 };

/*
 * ERR_LIMIT where entries imply more than MERGED_MOST_IMPLIED directories: each costs memory and a
 * header, and a few bytes of an archive can imply thousands.
 */
int merged_check_implied(const struct tree *paths, const struct merged_report *report,
                         struct err *err) must_check;

/*
 * ERR_LIMIT where the headers that are kept take more than `most` bytes (max_attributes of
 * merged_options). The message names what the headers are of: "hard links".
 */
int merged_check_attributes(uint64_t most, uint64_t bytes, const char *what_of,
                            struct err *err) must_check;

#endif
