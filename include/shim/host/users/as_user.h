/*
 * Work that needs another user's ids, as on an NFS export that squashes root: a child does it. This
 * process never takes on the ids itself: the kernel would clear PR_SET_PDEATHSIG, the signal at the
 * engine's death.
 */
#ifndef SHIM_AS_USER_H
#define SHIM_AS_USER_H

#include "shim/host/process/channel.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct user_ids {
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* supplementary groups; borrowed */
    size_t group_count;
};

/* Forks a child with the ids (channel.h). One that cannot have them ends silently. */
pid_t as_user_fork(const struct user_ids *ids, struct channel *channel);

/* Tells what a user can do with a path within an open directory. */
enum user_reach {
    USER_CLOSED,  /* he may not search a directory on the way, or could not be tried in time */
    USER_LACKS,   /* it is missing, and he may not make it */
    USER_MAKES,   /* it is missing, and he may make it */
    USER_REACHES, /* it is there, or something is that he can see as well: a link, a file above it
                   */
};

/* Tries what the user can do. Links are not followed. */
enum user_reach as_user_reach(const struct user_ids *ids, int dir, const char *path);

/*
 * openat(2) with O_PATH | O_NOFOLLOW, as that user. Returns a descriptor that the caller closes, or
 * -1 and errno: ETIMEDOUT as channel_read.
 */
int as_user_open(const struct user_ids *ids, int dirfd, const char *name);

/*
 * Opens a directory with O_PATH, as that user, who must be able to search it, too; `resolve` as in
 * fd_open_within. Returns as as_user_open does.
 */
int as_user_enter(const struct user_ids *ids, int dirfd, const char *path, uint64_t resolve);

#endif
