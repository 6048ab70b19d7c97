/*
 * The entry of `mounts` that a volume, or a generated file, becomes: written by apply.c, recognised
 * by plan_volumes.c and plan_user.c at the next edit of the same document. Pure.
 */
#ifndef SHIM_MOUNT_ENTRY_H
#define SHIM_MOUNT_ENTRY_H

#include "shim/plan/plan.h"

/* The members of an entry that the plan alone does not decide. */
struct mount_form {
    const char *source; /* the volume's, or the path where that is pinned (pin.h) */
    bool rro;           /* read-only with all that is mounted below it */
    bool idmap;         /* shows ids through the container's user namespace */
    bool ridmap;        /* so does all that is mounted below it */
};

/* Makes the entry in the document. A failure is the document's (json_failed). */
struct json *mount_entry_make(const struct plan_mount *m, const struct mount_form *form,
                              struct json_doc *doc, const struct spec *spec);

/* Makes the entry of a generated file in the document. A failure is the document's. */
struct json *mount_entry_make_file(const struct plan_file *file, struct json_doc *doc);

/*
 * Returns true if the mount is, member for member, what mount_entry_make_file gives for a file with
 * that source and target.
 */
bool mount_entry_is_file(const struct spec_mount *mount, const char *source, const char *target);

/*
 * Returns true if the entry gets the option of mount(8): nosuid and nodev unless the policy says
 * suid and dev, others if the policy says so.
 */
bool mount_entry_has(const struct plan_mount *m, const char *option);

/*
 * Returns 1 if the mount is, member for member, what mount_entry_make gives: a mount that says
 * anything else is not of an earlier edit. (Only "rro" may be there or not, and "ridmap" for
 * "idmap".) Else 0, or -1 without memory.
 */
int mount_entry_is(const struct spec_mount *mount, const struct plan_mount *m,
                   const struct mount_form *form, const struct spec *spec,
                   struct err *err) must_check;

/*
 * Returns true if the mount is an overlay over the volume's pool with any private side, as only an
 * edit makes it: an earlier launch of the bundle may have had another one.
 */
bool mount_entry_is_pool(const struct spec_mount *mount, const struct plan_mount *m);

/*
 * Returns the path where the checked source of a volume is pinned (pin.h), in the arena: the same
 * each time. NULL without memory.
 */
const char *mount_entry_pin_path(const struct plan_mount *m, struct arena *arena);

/* Returns true if the mount's source is, or by its text could be, below PIN_DIRECTORY. */
bool mount_entry_names_pin(const struct spec_mount *mount);

/* Returns true if the mount's source is a path where binds_hold.c holds a source of the user's. */
bool mount_entry_is_held(const struct spec_mount *mount);

#endif
