/*
 * Advice on an image, in plain words and in terms of Dockerfiles. Each piece says how many bytes it
 * is about. Advice about less than a hundredth of the image and less than 50 MB is left out.
 */
#ifndef FLATTEN_ADVICE_H
#define FLATTEN_ADVICE_H

#include "flatten/analyze/bytes/dead.h"
#include "flatten/analyze/bytes/duplicates.h"
#include "flatten/analyze/carving/carve_estimate.h"
#include "flatten/analyze/lookups/lookup_costs.h"
#include "flatten/analyze/lookups/lookups.h"

/* The analyses that advice is drawn from; all borrowed. */
struct advice_facts {
    const struct layer_stack *stack;
    const struct dead_report *dead;
    const struct lookup_report *lookups;
    const struct carve_estimate *carving;
    const struct lookup_costs *costs;
    const char *source;            /* its name on the command line */
    const char *const *created_by; /* by layer number - 1; NULL: unknown */
};

struct advice {
    const char *kind; /* for machines: touch, delete, rebuild, replace, cache, mount, flatten,
                         carve, depth, pyc, duplicate */
    uint64_t bytes;   /* that it would save, or that it is about; 0: none */
    char *text;       /* printable */
};

struct advice_list {
    struct advice *list; /* most bytes first; advice on the whole image last */
    size_t count;
};

/* Frees what it owns, and zeroes it. */
void advice_clear(struct advice_list *a);

/* Fills *out, which the caller clears, also after a failure. */
int advice_make(const struct advice_facts *facts, struct advice_list *out,
                struct err *err) must_check;

/* Adds advice that needs contents: about duplicates and stale .pyc files. */
int advice_add_contents(const struct advice_facts *facts, const struct duplicate_report *duplicates,
                        const struct stale_report *stale, struct advice_list *out,
                        struct err *err) must_check;

#endif
