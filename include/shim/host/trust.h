/*
 * Whose files are beyond a container user's reach: the rule that decides whether a policy is
 * believed, a symlink followed and a source mounted as it is.
 *
 * "Root" is uid 0, and the effective uid of a runtime that a user runs for himself. In a user
 * namespace (rootless podman) the host's root shows up as the overflow uid, which therefore counts
 * as root there: rootless users choose their runtime anyway, so policy is a convenience for them.
 * But so do other users of the host. Hence an entry of the overflow uid is trusted only by what its
 * folder says: never as an entry of a sticky folder, and as a symbolic link only directly in "/",
 * where nobody but the host's root can have put it.
 */
#ifndef SHIM_TRUST_H
#define SHIM_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

/* True for an owner that counts as root. */
bool trust_owner(uid_t uid);

/* True for an owner that is known to be root, not only not to be mapped. */
bool trust_owner_known(uid_t uid);

/* True if root owns it and neither group nor others may write to it. */
bool trust_closed(const struct stat *st);

/*
 * True if nobody but root can replace or rename the entry in that directory: the directory is
 * closed, or it is root's and sticky and the entry is root's.
 */
bool trust_entry(const struct stat *dir, const struct stat *entry);

/* True for a runtime that is not the host's root. */
bool trust_rootless(void);

/* True in a user namespace other than the initial one. Reads /proc/self/uid_map. */
bool trust_in_user_namespace(void);

#endif
