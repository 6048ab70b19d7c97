/*
 * A call of the runtime, from argv to the moment before exec.
 *
 * Only create, run and restore can be stopped by a policy. For every other command a policy that is
 * broken must not be in the way (what runs must stay stoppable): if it does not say which runtime
 * is behind us, the one that has a container of the name given is taken, or else the first of the
 * default list.
 */
#ifndef SHIM_LAUNCH_H
#define SHIM_LAUNCH_H

#include "shim/oci/lowlevel.h"
#include "shim/runtime/call/call_read.h"

struct launch {
    struct call_own own;
    struct call call; /* as far as it was understood: names the log even after a failure */
    struct lowlevel lowlevel;
    int argc; /* the words for the low-level runtime: */
    char *const *argv;
};

/* Everything but exec. argv is main's, without the program name. */
int launch_prepare(struct launch *l, int argc, char *const argv[], struct err *err) must_check;

#endif
