/*
 * The tracepoints of system calls, by their numbers in tracefs (Documentation/trace/events.rst).
 * tracefs is mounted apart from the host's tree, and is gone with its descriptor.
 */
#ifndef SHIM_WATCH_TRACEPOINTS_H
#define SHIM_WATCH_TRACEPOINTS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/admin/watch/trace/record.h"

enum { TRACEPOINT_NO_NAME = 2 };

struct tracepoint_call {
    const char *name; /* as in "sys_enter_NAME" */
    enum watch_call call;
    unsigned argument; /* of the name, 1: behind a directory; TRACEPOINT_NO_NAME */
};

enum { TRACEPOINT_CALLS = 19 };
extern const struct tracepoint_call tracepoint_calls[TRACEPOINT_CALLS];

/* Returns tracefs as a descriptor, or -1: ERR_UNSUPPORTED. */
int tracepoints_open(struct err *err) must_check;

/* Returns the number of a tracepoint, "enter" or "exit"; -1 if the kernel has none. */
long tracepoint_number(int tracefs, const char *side, const char *name);

#endif
