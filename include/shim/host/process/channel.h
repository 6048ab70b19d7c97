/* A child process with one end of a socket to this process, for answers and descriptors. */
#ifndef SHIM_CHANNEL_H
#define SHIM_CHANNEL_H

#include <stdbool.h>
#include <sys/types.h>

struct channel {
    int fd;      /* this process's end of the socket, or the child's */
    pid_t child; /* in this process */
    bool silent; /* the child did not answer in time, and was killed */
};

/*
 * The time limit of an answer. The child may look at what belongs to a user, such as a file system
 * of FUSE whose server never answers.
 */
enum { CHANNEL_SECONDS = 10 };

/*
 * Bounds how long this process waits for all further answers: a user could have each of many take
 * nearly as long as one may. Without it only each answer has a limit.
 */
void channel_set_budget(unsigned milliseconds);

/* Takes both limits away, for a process that another one ends in time. */
void channel_wait_on(void);

/*
 * Forks. Returns 0 in the child, which ends with _exit, and its pid in this process, which ends it
 * with channel_end or channel_receive. Returns -1 and errno without a child.
 */
pid_t channel_fork(struct channel *channel);

/*
 * Reads up to `len` bytes of an answer, as read(2). Returns -1 and ETIMEDOUT if there is none in
 * time.
 */
ssize_t channel_read(struct channel *channel, void *data, size_t len);

/* Closes the channel and waits for the child, unless it is silent. Keeps errno. */
void channel_end(struct channel *channel);

/* In the child: sends the descriptor, or, for -1, errno, and ends the process (unix(7),
 * SCM_RIGHTS). */
_Noreturn void channel_send(int fd, const struct channel *channel);

/*
 * Receives a descriptor, and ends the child as channel_end does. Returns the descriptor, which the
 * caller closes, or -1 and errno: the child's, ETIMEDOUT as channel_read, or EIO.
 */
int channel_receive(struct channel *channel);

#endif
