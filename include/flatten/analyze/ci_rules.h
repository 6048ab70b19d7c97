/*
 * Rules that an image must keep, for CI: `flatten analyze` exits with CI_RULES_BROKEN if one is
 * broken. They are set on the command line or in a file. Pure.
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
    CI_RULE_WASTED,       /* at most so many dead bytes */
    CI_RULE_WASTED_SHARE, /* at most this share of all bytes is dead: 0 to 1 */
    CI_RULE_EFFICIENCY,   /* dive's efficiency is at least that: 0 to 1 */
    CI_RULE_DEPTH,        /* at most so many layers */
    CI_RULE_PROBES,       /* at most so many probes (lookups.h) for a path, on average */
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
 * Sets a rule from the name of its option ("max-wasted") and its text: "200MB" or "10%" for
 * max-wasted, "95%" or "0.95" for min-efficiency, a number for max-depth and max-probes. ERR_USAGE
 * for other texts.
 */
int ci_rules_set(struct ci_rules *g, const char *name, const char *text,
                 struct err *err) must_check;

/*
 * Sets rules that are not set yet from a JSON object (comments allowed). Its keys are the names
 * with
 * '_' for '-', its values strings or numbers; ERR_FORMAT for others.
 */
int ci_rules_parse(struct ci_rules *g, const char *text, size_t len, struct err *err) must_check;

/* Fills out[0] to out[*count - 1], one for each rule that is set. True if all are kept. */
bool ci_rules_judge(const struct ci_rules *g, const struct ci_values *values,
                    struct ci_result out[CI_RULES], size_t *count);

/* Appends a result in words, as in "2.69 % dead of at most 2 %". */
void ci_result_put_text(const struct ci_result *r, struct buf *out);

#endif
