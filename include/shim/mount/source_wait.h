/*
 * Looks at a source that may hang, as on an NFS server that is gone: a child looks first, and is
 * given up if it does not come back in time.
 */
#ifndef SHIM_SOURCE_WAIT_H
#define SHIM_SOURCE_WAIT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/host/users/as_user.h"

#include <stdbool.h>

/*
 * Walks the path (source_find_for) in a child, for at most that long. Returns 0 if the child came
 * back, with whatever answer; 1 if it did not, and was killed; -1 only if there can be no child.
 */
int source_wait(const char *path, const struct user_ids *user, unsigned milliseconds,
                struct err *err) must_check;

/*
 * Returns false for a directory that does not answer in time. A name is looked up in it: the kernel
 * may know the directory itself without asking its server.
 */
bool source_answers(const char *directory, unsigned milliseconds);

#endif
