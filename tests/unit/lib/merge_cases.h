/*
 * What becomes of stacks of layers, one row a rule: as stack.h writes the layers and tree_result.h
 * the tree. `overlay` and `spec` were seen from engines (tests/oracle/OBSERVED.md) where these
 * unpack such layers at all. "!text": an error that says so.
 */
#ifndef TESTS_MERGE_CASES_H
#define TESTS_MERGE_CASES_H

#include "flatten/merge/merge.h"

struct merge_case {
    const char *name, *layers;
    const char *overlay;
    const char *spec;       /* NULL: the same */
    const char *divergence; /* that merge.c reports; or NULL */
    bool conflict;          /* merge.c leaves it to the index */
};

extern const struct merge_case merge_cases[];
extern const size_t merge_case_count;

#endif
