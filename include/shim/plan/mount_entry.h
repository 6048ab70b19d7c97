/* The entry of `mounts` that a volume becomes: written by apply.c, recognised by plan.c. Pure. */
#ifndef SHIM_MOUNT_ENTRY_H
#define SHIM_MOUNT_ENTRY_H

#include "shim/plan/plan.h"

/* The entry for the volume with this source, in the document; a failure is the document's. */
struct json *mount_entry_make(const struct plan_op *op, const char *source, struct json_doc *doc,
                              const struct spec *spec);

/* True if it gets the option: nosuid and nodev unless the policy says suid and dev, others by it.
 */
bool mount_entry_has(const struct plan_op *op, const char *option);

/*
 * 1 if the mount is, member for member, what mount_entry_make gives: one that says anything else is
 * not of an earlier edit. (Only "rro" may be there or not.) Else 0, or -1 without memory.
 */
int mount_entry_is(const struct spec_mount *mount, const struct plan_op *op, const char *source,
                   const struct spec *spec, struct err *err) must_check;

/* True if the mount's source is (or, as far as its text tells, could be) below PIN_FOLDER. */
bool mount_entry_names_pin(const struct spec_mount *mount);

/* True if it is where binds_hold.c holds the source of a user's mount. */
bool mount_entry_is_held(const struct spec_mount *mount);

#endif
