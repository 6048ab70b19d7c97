/* For commands: the cache that --cache, or else the policy, names. */
#ifndef SHIM_COMMAND_RESTACK_COMMON_H
#define SHIM_COMMAND_RESTACK_COMMON_H

#include "shim/admin/restack_list.h"

/* With `make` it is made if it is missing; without, *out has no descriptor then and 0 is returned.
 */
int restack_place_open(const char *named, bool make, struct restack_cache *out,
                       struct err *err) must_check;

/* One of a list, for --json. */
struct json *restack_item_json(const struct restack_item *item, struct json_doc *doc);

#endif
