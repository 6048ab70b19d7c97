/*
 * A call of the runtime, from argv to the moment before exec.
 *
 * Only create, run and restore can be stopped by a policy. For every other command a broken policy
 * must not be in the way (a running container must be stoppable): if the policy does not name the
 * low-level runtime, the one that has a container of the given name is taken, or else the first of
 * the default list.
 */
#ifndef SHIM_LAUNCH_H
#define SHIM_LAUNCH_H

#include "shim/oci/lowlevel.h"
#include "shim/runtime/call/call_read.h"
#include "shim/runtime/words.h"

struct launch {
    struct call_own own;
    struct call call; /* what could be read: it names the log even after a failure */
    struct lowlevel lowlevel;
    struct words words; /* for the low-level runtime */
    char *root;         /* of the call, by its real path; owned */
};

/*
 * Does everything before exec. argv is main's, without the program name. After a failure l->call is
 * set as far as possible, for the report.
 */
int launch_prepare(struct launch *l, int argc, char *const argv[], struct err *err) must_check;

/* Frees what launch_prepare made. */
void launch_free(struct launch *l);

#define _cleanup_launch_ _cleanup_(launch_free)

#endif
