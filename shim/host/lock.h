/* flock(2) with a bound: nobody who holds a lock may hold up launches for ever. */
#ifndef SHIM_LOCK_H
#define SHIM_LOCK_H

#include "base/cleanup.h"
#include "base/err.h"

/* Waits for an exclusive lock, which goes with the descriptor. */
int lock_wait(int fd, unsigned milliseconds, struct err *err) must_check;

#endif
