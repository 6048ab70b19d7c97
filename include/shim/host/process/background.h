/* Work that goes on behind a launch: a process of its own, at the lowest priority. */
#ifndef SHIM_BACKGROUND_H
#define SHIM_BACKGROUND_H

#include "base/err.h"

/* The work. The descriptor is the only one that is open beside /dev/null; -1 if there is none. */
typedef void background_fn(int fd, void *subject);

/*
 * Starts `work` in a process with its own session, without the descriptors of this one (engines
 * wait until every process has closed the pipes of a runtime), with nice 19 and idle I/O. It gets
 * `fd`, or none with -1, and a copy of the memory; this process does not wait for it. `name` is
 * its name in ps(1), at most 15 bytes.
 */
int background_start(const char *name, int fd, background_fn *work, void *subject, struct err *err)
    __attribute__((warn_unused_result));

#endif
