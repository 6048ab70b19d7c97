/* Changes to copies by the administrator. */
#ifndef ADMIN_STAGE_CHANGE_H
#define ADMIN_STAGE_CHANGE_H

#include "shim/admin/stage/stage_target.h"
#include "shim/stage/cache/stage_room.h"

enum stage_change { STAGE_DROP, STAGE_PIN, STAGE_UNPIN };

/*
 * Drops, pins or unpins all copies of a source, whose directory may be gone. *count: how many.
 * ERR_LIMIT: one cannot be dropped, as a container uses it.
 */
int stage_change_copies(const struct stage_target *target, enum stage_change change,
                        struct arena *arena, size_t *count, struct err *err) must_check;

/*
 * Removes what is of no use from all caches of the policy, then the least recently used copies
 * beyond its limits. With `dry` nothing is removed. Adds to *count.
 */
int stage_change_trim(const struct policy *policy, bool dry, size_t *count,
                      struct err *err) must_check;

#endif
