/* First processes of containers, by their control groups. */
#ifndef SHIM_READY_PROCESS_H
#define SHIM_READY_PROCESS_H

#include "shim/admin/monitor/ready/ready.h"

#include <sys/types.h>

/* The oldest process of a container; pid 0: none was found. */
struct first_process {
    pid_t pid;
    uint64_t ticks; /* since the host's boot, of sysconf(_SC_CLK_TCK) a second (proc(5), stat) */
};

/* Finds the processes of all wishes, by number. Fails if /proc cannot be read. */
int processes_find(const struct start_wish *wishes, size_t count, struct first_process *out,
                   struct err *err) must_check;

/*
 * Returns the ID in a text of /proc/PID/cgroup: 64 digits in the last part of a path. NULL for
 * another form, and for podman's monitor of a container (conmon). Pure.
 */
const char *process_container(const char *cgroups);

/* Returns the time of a clock (clock_gettime(2)) in seconds. */
double process_clock(clockid_t clock);

/* Returns when a process started, in seconds since 1970, by the clock as it is now. */
double process_started(const struct first_process *process);

#endif
