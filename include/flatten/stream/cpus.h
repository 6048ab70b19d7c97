/*
 * How many processors this process may use: the affinity mask, as taskset and cpusets set it.
 */
#ifndef FLATTEN_CPUS_H
#define FLATTEN_CPUS_H

/* At least 1. */
unsigned cpus_usable(void);

#endif
