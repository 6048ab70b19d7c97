/* The member names in config.json, at every depth. */
#ifndef SHIM_SPEC_NAMES_H
#define SHIM_SPEC_NAMES_H

#include "base/err.h"
#include "base/json/json.h"

/*
 * Refuses a document that two readers could understand in two ways: a member whose name differs
 * from one of the specification in a way that Go ignores (spec_name_shadows), and NUL bytes in
 * names and texts, where C ends them. Names in annotations and in other maps are free, but for NUL
 * bytes. ERR_FORMAT with the place. Pure.
 */
int spec_names_check(const struct json *root, struct err *err) must_check;

#endif
