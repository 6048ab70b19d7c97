/* The clock that is never set: the time between two moments (clock_gettime(2), CLOCK_MONOTONIC). */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Each returns the time since some moment in the past. */
int64_t clock_ns(void);
int64_t clock_ms(void);
double clock_seconds(void);

#endif
