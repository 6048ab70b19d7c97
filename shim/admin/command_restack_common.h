/* Shared by the commands restack and gc. */
#ifndef SHIM_COMMAND_RESTACK_COMMON_H
#define SHIM_COMMAND_RESTACK_COMMON_H

#include "shim/admin/restack_list.h"

/*
 * Opens the cache that `named` (--cache) or else the policy names. With `make` it is made if it is
 * missing; without, *out then has no descriptor and 0 is returned.
 */
int command_restack_open(const char *named, bool make, struct restack_cache *out,
                         struct err *err) must_check;

/* Returns one item of a list as an object of `doc`, for --json. */
struct json *command_restack_item(const struct restack_item *item, struct json_doc *doc);

#endif
