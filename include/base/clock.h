/* The clock that is never set: the time between two moments (clock_gettime(2), CLOCK_MONOTONIC). */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Each returns the time since a moment that is the same for the whole host, in its unit. */
int64_t clock_ns(void);
int64_t clock_ms(void);
double clock_seconds(void);

#endif
