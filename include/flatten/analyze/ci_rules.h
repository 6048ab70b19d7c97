/*
 * Rules that an image must keep, for CI: `flatten analyze` exits with 4 when one is broken. Set on
 * the command line or in a file. Pure.
 */
#ifndef FLATTEN_CI_RULES_H
#define FLATTEN_CI_RULES_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CI_RULES_BROKEN = 4 }; /* the exit status */

enum ci_rule {
    CI_RULE_WASTED,       /* dead bytes, at most: bytes */
    CI_RULE_WASTED_SHARE, /* the same, as a share of all: 0 to 1 */
    CI_RULE_EFFICIENCY,   /* dive's, at least: 0 to 1 */
    CI_RULE_DEPTH,        /* layers, at most: the root directory is in all of them */
    CI_RULE_PROBES, /* layers that a lookup of an existing path looks into, on average, at most */
    CI_RULES,
};

extern const char *const ci_rule_key[CI_RULES]; /* for JSON */

struct ci_rules {
    bool set[CI_RULES];
    double limit[CI_RULES];
};

struct ci_values {
    uint64_t payload, dead; /* bytes */
    double efficiency;
    unsigned layers;
    double probes;
};

struct ci_result {
    enum ci_rule rule;
    double limit, value;
    bool kept;
};

/*
 * Sets a rule from its name ("max-wasted", as the option and with '_' as the key is called) and its
 * text: "200MB" or "10%" for max-wasted, "95%" or "0.95" for min-efficiency, a number for max-depth
 * and max-probes. Anything else is ERR_USAGE.
 */
int ci_rules_set(struct ci_rules *g, const char *name, const char *text,
                 struct err *err) must_check;

/*
 * Sets rules that are not set yet from a JSON object (comments allowed) with those names, '_' for
 * '-', and strings or numbers as values; other members are ERR_FORMAT.
 */
int ci_rules_parse(struct ci_rules *g, const char *text, size_t len, struct err *err) must_check;

/* Fills `out` with the rules that are set; true if all are kept. */
bool ci_rules_judge(const struct ci_rules *g, const struct ci_values *values,
                    struct ci_result out[CI_RULES], size_t *count);

/* "3.1 of at most 2 probes a path". */
void ci_result_put_text(const struct ci_result *r, struct buf *out);

#endif
