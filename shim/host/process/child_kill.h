/* The end of a child that may hang in the kernel. */
#ifndef SHIM_CHILD_KILL_H
#define SHIM_CHILD_KILL_H

#include <sys/types.h>

/*
 * Kills the child and waits for a tenth of a second: the kernel may hold it back even then, as in a
 * request to a file system of FUSE whose server has taken it. Changes errno.
 */
void child_kill(pid_t pid);

#endif
