/*
 * What only somebody else may do, as on an export that squashes root: a child does it with his ids.
 * This process never takes them on itself: the kernel would forget the signal that it is to get
 * when its engine dies, PR_SET_PDEATHSIG.
 */
#ifndef SHIM_AS_USER_H
#define SHIM_AS_USER_H

#include <stddef.h>
#include <sys/types.h>

struct user_ids {
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* supplementary ones; borrowed */
    size_t group_count;
};

/*
 * As fork(2): 0 in the child, which has the ids and ends with _exit; there *channel is a socket to
 * the parent, and here one to the child. -1 and errno without a child. A child that cannot have the
 * ids ends without a word.
 */
pid_t as_user_fork(const struct user_ids *ids, int *channel);

/* Closes the channel and waits for the child. Keeps errno. */
void as_user_end(pid_t pid, int channel);

/* openat(2) with O_PATH | O_NOFOLLOW, as that user. A descriptor, or -1 and errno. */
int as_user_open(const struct user_ids *ids, int dirfd, const char *name);

#endif
