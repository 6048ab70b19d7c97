/* The files that `flatten analyze` reads before its sandbox starts. */
#ifndef FLATTEN_ANALYZE_FILES_H
#define FLATTEN_ANALYZE_FILES_H

#include "flatten/analyze/ci_rules.h"
#include "flatten/analyze/lookups/lookup_costs.h"

/* Adds the rules of a file (ci_rules_parse) to those that are set already. */
int analyze_load_rules(const char *path, struct ci_rules *rules, struct err *err) must_check;

/*
 * Loads what lookups cost from `path`; or with NULL from the file that flatbed bench --save writes.
 * That one may be missing; one that is malformed, or writable by users other than root, is an
 * error. *out then has the defaults, with which the caller may go on.
 */
int analyze_load_costs(const char *path, struct lookup_costs *out, struct err *err) must_check;

#endif
