/* The descriptors that a caller hands on to a container. */
#ifndef SHIM_INHERITED_FDS_H
#define SHIM_INHERITED_FDS_H

#include "base/cleanup.h"
#include "base/err.h"

/*
 * Checks the descriptors from 3 on that runc gives to a container's process: as many as LISTEN_FDS
 * says, if LISTEN_PID is this process, and `preserve_fds`, the value of --preserve-fds (NULL:
 * none). runc asks only whether there is a descriptor of that number, which may be one of its own:
 * in runc 1.1.5, 3 is the host's /sys/fs/cgroup, through which the process reaches the files of the
 * host. ERR_POLICY if one was not given to this program, or is a directory; ERR_USAGE for a value
 * that is not a number.
 */
int inherited_fds_check(const char *preserve_fds, struct err *err) must_check;

/*
 * Returns the number of the first descriptor behind those that an exec hands on, below 100, or -1.
 * ERR_POLICY: there are too many, or it uses systemd's protocol, too, which runc ignores there and
 * crun does not.
 */
int inherited_fds_next(const char *preserve_fds, struct err *err) must_check;

/*
 * Makes `fd` the descriptor `number`, open across execve(2), in the place of any other. Returns the
 * value of --preserve-fds for that, which the caller frees, or NULL.
 */
char *inherited_fds_hand_on(int fd, int number, struct err *err) must_check;

#endif
