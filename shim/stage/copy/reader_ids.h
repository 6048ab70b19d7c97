/*
 * Reading with a user's ids in one thread of a process of root: a root-squashed export shows a file
 * only to those who may read it. The ids change for the calling thread alone, by the system calls
 * themselves: glibc's functions would change all threads.
 */
#ifndef SHIM_READER_IDS_H
#define SHIM_READER_IDS_H

#include "shim/host/users/as_user.h"

#include <stdint.h>

struct reader_ids {
    const struct user_ids *user; /* NULL: root reads, and the functions do nothing */
    uint32_t permitted[2];       /* the thread's capabilities */
};

/* Prepares the calling thread: groups and securebits. -1 and errno if it may not change ids. */
int reader_ids_begin(struct reader_ids *ids, const struct user_ids *user);

/* Takes on the user's ids, without capabilities but that to return. */
int reader_ids_take(const struct reader_ids *ids);

/* Returns to root. A thread that could not would go on with the wrong ids: it ends the process. */
void reader_ids_leave(const struct reader_ids *ids);

#endif
