/*
 * Work that needs another user's ids, as on an NFS export that squashes root: a child does it. This
 * process never takes on the ids itself: the kernel would clear PR_SET_PDEATHSIG, the signal at the
 * engine's death.
 */
#ifndef SHIM_AS_USER_H
#define SHIM_AS_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct user_ids {
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* supplementary groups; borrowed */
    size_t group_count;
};

/*
 * Forks a child with the ids. Returns 0 in the child, which ends with _exit; *channel is one end of
 * a socket to the other process, in both. Returns -1 and errno without a child. A child that cannot
 * have the ids ends silently.
 */
pid_t as_user_fork(const struct user_ids *ids, int *channel);

/* Closes the channel and waits for the child. Keeps errno. */
void as_user_end(pid_t pid, int channel);

/* Returns true if that user has the access (faccessat(2)) to what is open; false without a child.
 */
bool as_user_may(const struct user_ids *ids, int fd, int mode);

/*
 * openat(2) with O_PATH | O_NOFOLLOW, as that user. Returns a descriptor that the caller closes, or
 * -1 and errno.
 */
int as_user_open(const struct user_ids *ids, int dirfd, const char *name);

#endif
