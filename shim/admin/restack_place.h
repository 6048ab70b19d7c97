/* For commands: the cache that --cache, or else the policy, names. */
#ifndef SHIM_RESTACK_PLACE_H
#define SHIM_RESTACK_PLACE_H

#include "shim/admin/restack_list.h"

/* With `make` it is made if it is missing; without, *out has no descriptor then and 0 is returned.
 */
int restack_place_open(const char *named, bool make, struct restack_cache *out,
                       struct err *err) must_check;

/* "412.3 MiB" */
void restack_put_size(struct buf *out, uint64_t bytes);

/* One of a list, for --json. */
struct json *restack_item_json(const struct restack_item *item, struct json_doc *doc);

#endif
