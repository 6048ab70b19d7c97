/* Questions to the kernel that may hang, as on an NFS server that is gone: a child asks them. */
#ifndef SHIM_CHILD_ASK_H
#define SHIM_CHILD_ASK_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

/* Runs in the child, which has no descriptors but its pipe. Fills the answer. */
typedef void child_question(const void *asked, void *answer);

/*
 * Asks in a child, for at most that long. `size` is at most PIPE_BUF. Returns 0 if the child came
 * back, with its answer, which is all zeros if it ended without one; 1 if it did not, and was
 * killed; -1 only if there can be no child.
 */
int child_ask(child_question *ask, const void *asked, void *answer, size_t size,
              unsigned milliseconds, struct err *err) must_check;

#endif
