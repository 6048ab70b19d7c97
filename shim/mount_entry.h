/* The entry of `mounts` that a volume becomes: written by apply.c, recognised by plan.c. Pure. */
#ifndef SHIM_MOUNT_ENTRY_H
#define SHIM_MOUNT_ENTRY_H

#include "shim/plan.h"

/* The options of the entry, one by one; NULL behind the last. */
const char *mount_entry_option(const struct plan_op *op, size_t index);

/*
 * True if the mount is, member for member, what apply.c writes for the volume with this source: a
 * mount that says anything else is not of an earlier edit.
 */
bool mount_entry_is(const struct spec_mount *mount, const struct plan_op *op, const char *source);

/* True if the mount's source is (or, as far as its text tells, could be) below PIN_FOLDER. */
bool mount_entry_names_pin(const struct spec_mount *mount);

#endif
