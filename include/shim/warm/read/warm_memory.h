/* The memory that a read-ahead may fill, and the cgroup that is charged for it. */
#ifndef SHIM_WARM_MEMORY_H
#define SHIM_WARM_MEMORY_H

#include "base/err.h"
#include "shim/policy/policy.h"

/*
 * Returns the most bytes to read ahead: `max` of the memory that is free or holds files that were
 * not used lately (MemFree and Inactive(file) of /proc/meminfo, the text `meminfo`), and not more
 * than `limit`, the container's; 0: it has none. Pure.
 */
uint64_t warm_memory_of(const char *meminfo, const struct policy_free *max, uint64_t limit);

/* The same of this host. */
uint64_t warm_memory(const struct policy_free *max, uint64_t limit);

/*
 * Moves this process into the root cgroup, in which pages are charged to nobody: else they would be
 * the engine's, and count for its limit. ERR_UNSUPPORTED where that is refused.
 */
int warm_memory_uncharge(struct err *err) must_check;

#endif
