/* The processors that this process may use: its affinity mask, as taskset and cpusets set it. */
#ifndef FLATTEN_CPUS_H
#define FLATTEN_CPUS_H

/* Returns how many there are, at least 1. */
unsigned cpus_usable(void);

#endif
