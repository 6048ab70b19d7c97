/*
 * Reads how much of the host a container may use, by its own linux.resources: memory.limit,
 * cpu.quota and cpu.period, cpu.cpus, and the same of cgroup v2 in `unified` (memory.max, cpu.max,
 * cpuset.cpus). Of several limits the smallest counts. Limits of a cgroup above it (a Kubernetes
 * pod's) are not looked at. A malformed one counts as not given: the low-level runtime complains.
 * Pure.
 */
#ifndef SHIM_LIMITS_H
#define SHIM_LIMITS_H

#include "shim/oci/spec.h"

enum { LIMITS_CPUS = 8192 }; /* the most that Linux can be built for */

/* 0 in each: no limit. */
struct container_limits {
    uint64_t memory;     /* bytes */
    uint64_t quota_cpus; /* whole CPUs' worth of time, rounded down, but at least 1 */
    uint64_t set_cpus;   /* CPUs that it may run on */
};

/* Reads the limits. */
void limits_read(const struct spec *spec, struct container_limits *out);

/* Returns the number of CPUs in a list such as "0-3,8" (cpuset(7), "List format"); 0 if it is none.
 */
uint64_t limits_count_cpus(const char *list);

#endif
