/* A child process with one end of a socket to this process, for answers and descriptors. */
#ifndef SHIM_CHANNEL_H
#define SHIM_CHANNEL_H

#include <sys/types.h>

/*
 * Forks. Returns 0 in the child, which ends with _exit; *channel is one end of the socket, in both.
 * Returns -1 and errno without a child.
 */
pid_t channel_fork(int *channel);

/* Closes the channel and waits for the child. Keeps errno. */
void channel_end(pid_t pid, int channel);

/* In the child: sends the descriptor, or, for -1, errno, and ends the process (unix(7),
 * SCM_RIGHTS). */
_Noreturn void channel_send(int fd, int channel);

/*
 * Receives a descriptor, and ends the child as channel_end does. Returns the descriptor, which the
 * caller closes, or -1 and errno: the child's, or EIO.
 */
int channel_receive(pid_t pid, int channel);

#endif
