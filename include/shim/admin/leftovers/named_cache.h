/* The cache of restack that a command or the policy names. */
#ifndef SHIM_NAMED_CACHE_H
#define SHIM_NAMED_CACHE_H

#include "shim/admin/leftovers/restack_list.h"

/*
 * Opens the cache that `named` (--cache) or else the policy names. With `make` it is made if it is
 * missing; without, *out then has no descriptor and 0 is returned.
 */
int named_cache_open(const char *named, bool make, struct restack_cache *out,
                     struct err *err) must_check;

/* Returns one item of a list as an object of `doc`, for --json. */
struct json *named_cache_item(const struct restack_item *item, struct json_doc *doc);

#endif
