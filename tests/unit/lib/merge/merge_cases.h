/*
 * Stacks of layers and their merged trees, one row a rule: layers in the notation of stack.h,
 * trees in that of tree_result.h. `overlay` and `spec` were seen from engines
 * (tests/oracle/OBSERVED.md), if these unpack such layers. "!text": an error with this text.
 */
#ifndef TESTS_MERGE_CASES_H
#define TESTS_MERGE_CASES_H

#include "flatten/merge/merge.h"
#include "tests/unit/lib/unit.h"

struct merge_case {
    const char *name, *layers;
    const char *overlay;
    const char *spec;       /* NULL: the same */
    const char *divergence; /* reported by merge.c; or NULL */
    bool conflict;          /* merge.c needs the index */
};

/*
 * Runs `test` once for each case, which it gets as its initial state. Returns the number of
 * failures.
 */
int merge_cases_run(const char *group, CMUnitTestFunction test);

#endif
