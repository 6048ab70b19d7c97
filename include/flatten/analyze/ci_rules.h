/*
 * Rules that an image must keep, for CI: `flatten analyze` exits with 4 when one is broken. Set on
 * the command line or in a file. Pure but for gate_load.
 */
#ifndef FLATTEN_GATE_H
#define FLATTEN_GATE_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GATE_BROKEN = 4 }; /* the exit status */

enum gate_rule {
    GATE_WASTED,       /* dead bytes, at most: bytes */
    GATE_WASTED_SHARE, /* the same, as a share of all: 0 to 1 */
    GATE_EFFICIENCY,   /* dive's, at least: 0 to 1 */
    GATE_DEPTH,        /* layers, at most: the root directory is in all of them */
    GATE_PROBES, /* layers that a lookup of an existing path looks into, on average, at most */
    GATE_RULES,
};

extern const char *const gate_key[GATE_RULES]; /* for JSON */

struct gate {
    bool set[GATE_RULES];
    double limit[GATE_RULES];
};

struct gate_values {
    uint64_t payload, dead; /* bytes */
    double efficiency;
    unsigned layers;
    double probes;
};

struct gate_result {
    enum gate_rule rule;
    double limit, value;
    bool kept;
};

/*
 * Sets a rule from its name ("max-wasted", as the option and with '_' as the key is called) and its
 * text: "200MB" or "10%" for max-wasted, "95%" or "0.95" for min-efficiency, a number for max-depth
 * and max-probes. Anything else is ERR_USAGE.
 */
int gate_set(struct gate *g, const char *name, const char *text, struct err *err) must_check;

/*
 * Sets rules that are not set yet from a JSON object (comments allowed) with those names, '_' for
 * '-', and strings or numbers as values; other members are ERR_FORMAT.
 */
int gate_load(struct gate *g, const char *path, struct err *err) must_check;
int gate_parse(struct gate *g, const char *text, size_t len, struct err *err) must_check;

/* Fills `out` with the rules that are set; true if all are kept. */
bool gate_judge(const struct gate *g, const struct gate_values *values,
                struct gate_result out[GATE_RULES], size_t *count);

/* "3.1 of at most 2 probes a path". */
void gate_put_text(const struct gate_result *r, struct buf *out);

#endif
