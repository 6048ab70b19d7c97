/*
 * delete: the low-level runtime is a child here, because the state of a container may go only when
 * the container is gone, and a runtime may refuse to delete one that runs.
 */
#ifndef SHIM_DELETE_H
#define SHIM_DELETE_H

#include "shim/runtime/launch.h"

/* Returns true if the call deletes a container for which something is kept. */
bool delete_concerns(const struct launch *l);

/*
 * Runs the low-level runtime, and forgets the container if it is gone. Returns the exit status for
 * main; ends by the same signal if the runtime did. If there can be no child it becomes the
 * runtime, because a container must be deletable: the state then goes with the next sweep. -1:
 * nothing was done.
 */
int delete_run(struct launch *l, struct err *err) must_check;

#endif
