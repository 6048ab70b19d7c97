#include "base/clock.h"

#include <time.h>

enum { NS_PER_MS = 1000 * 1000, NS_PER_SECOND = 1000 * NS_PER_MS };

int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

int64_t clock_ms(void)
{
    return clock_ns() / NS_PER_MS;
}

double clock_seconds(void)
{
    return (double)clock_ns() / NS_PER_SECOND;
}
