/*
 * The load of a disk between two looks at /proc/diskstats
 * (Documentation/admin-guide/iostats.rst of the kernel), as iostat -x counts it.
 */
#ifndef SHIM_DISK_LOAD_H
#define SHIM_DISK_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct disk_load {
    uint64_t requests; /* reads and writes that ended between the looks */
    double await;      /* milliseconds that one took, in the queue and in the disk */
    double busy;       /* per cent of the time in which there was at least one */
};

/*
 * Compares two texts of the file, so many seconds apart. Returns false if one of them does not have
 * the device. Pure.
 */
bool disk_load_between(const char *before, const char *after, double seconds, dev_t disk,
                       struct disk_load *out);

#endif
