/* The monotonic clock in seconds, for what is measured. */
#ifndef SHIM_SECONDS_H
#define SHIM_SECONDS_H

#include <time.h>

static inline double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#endif
