/*
 * The rule that decides whether a policy is trusted, a symbolic link followed and a source mounted
 * as it is: a container's user must not be able to change the file.
 *
 * "Root" is uid 0, and the effective uid of a runtime that a user runs. In a user namespace
 * (rootless podman) the host's root shows up as the overflow uid, which therefore counts as root
 * there: rootless users choose their runtime anyway, so policy is a convenience for them. But the
 * host's other users show up as the overflow uid, too. Hence an entry of the overflow uid is
 * trusted only through its directory: never as an entry of a sticky directory, and as a symbolic
 * link only directly in "/", which only the host's root can write.
 */
#ifndef SHIM_TRUST_H
#define SHIM_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

/* Returns true for an owner that counts as root. */
bool trust_owner(uid_t uid);

/* Returns true for an owner that is certainly root, and not merely unmapped. */
bool trust_owner_known(uid_t uid);

/* Returns true if the owner counts as root and neither group nor others may write. */
bool trust_closed(const struct stat *st);

/*
 * Returns true if only root can replace or rename the entry in that directory: the directory is
 * closed (trust_closed), or it is owned by root and sticky and the entry is owned by root.
 */
bool trust_entry(const struct stat *dir, const struct stat *entry);

/* Returns true for a runtime that does not run as the host's root. */
bool trust_rootless(void);

/* Returns true in a user namespace other than the initial one. Reads /proc/self/uid_map. */
bool trust_in_user_namespace(void);

#endif
