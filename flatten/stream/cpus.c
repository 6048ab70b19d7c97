#include "flatten/stream/cpus.h"

#include <sched.h>

unsigned cpus_usable(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 1;
    unsigned count = (unsigned)CPU_COUNT(&set);
    return count < 1 ? 1 : count;
}
