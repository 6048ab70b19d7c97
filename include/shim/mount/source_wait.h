/*
 * A look at a source that may hang, as on an NFS server that is gone: a child looks first, and what
 * does not come back in time is given up.
 */
#ifndef SHIM_SOURCE_WAIT_H
#define SHIM_SOURCE_WAIT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/host/as_user.h"

/*
 * Walks the path (source_find_for) in a child, for at most that long. 0: it came back, with
 * whatever answer; 1: it did not, and the child was killed. -1 only where no child can be had.
 */
int source_wait(const char *path, const struct user_ids *user, unsigned milliseconds,
                struct err *err) must_check;

#endif
