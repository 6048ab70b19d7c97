/*
 * Processes, named by pid and the time when they started (proc(5), /proc/PID/stat, in ticks since
 * boot): the pair names one process only, and stays the same through execve(2).
 */
#ifndef SHIM_PROCESS_H
#define SHIM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    uint64_t start;
};

/* Returns this process; its `start` is 0 if /proc does not tell. */
struct process process_self(void);

/*
 * Returns true only if the process has certainly ended (a zombie has, too). False if /proc does not
 * tell.
 */
bool process_ended(const struct process *p);

/* Returns true for this process, and for one that it descends from. */
bool process_is_above(const struct process *p);

#endif
