/*
 * The options of a bind mount that restrict it, and the options that undo each: the opposite, and
 * the opposite that runc and crun apply to all mounts below ("rrw", "rsuid" …). Pure.
 */
#ifndef SHIM_MOUNT_RESTRICTION_H
#define SHIM_MOUNT_RESTRICTION_H

#include "base/json/json.h"

struct mount_restriction {
    const char *option, *opposite;
    const char *recursive_opposite; /* or NULL */
};

/* Returns the row for "ro", "bind", "nosuid", "nodev" or "noexec"; NULL for anything else. Static.
 */
const struct mount_restriction *mount_restriction_find(const char *option);

/* Returns true if the options of a mount restrict it so, and none of them undoes it. */
bool mount_restriction_holds(const struct mount_restriction *r, const struct json *options);

/* Returns true unless the options make the mount read-only; of several the last counts. */
bool mount_is_writable(const struct json *options);

/*
 * Returns true if no mount that is made later below the source appears in the container: it would
 * be judged by nobody, and have none of the restrictions. runc takes a bind that says nothing of
 * propagation for a slave, and under "private" what is mounted below a recursive bind stays one.
 */
bool mount_is_private(const struct json *options);

/* An option of propagation for a mount and all below it, and the one for it alone. */
struct mount_propagation {
    const char *recursive, *alone;
};

enum { MOUNT_PROPAGATIONS = 4 };

extern const struct mount_propagation mount_propagations[MOUNT_PROPAGATIONS];

/*
 * Returns true if the options of a bind bring what is mounted below its source: "rbind", and for
 * crun also "rprivate" and its like, whose MS_REC it applies to the bind.
 */
bool mount_is_recursive(const struct json *options);

#endif
