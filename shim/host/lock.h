/* flock(2) with a time limit, so that the holder of a lock cannot block launches for ever. */
#ifndef SHIM_LOCK_H
#define SHIM_LOCK_H

#include "base/cleanup.h"
#include "base/err.h"

/*
 * Waits for an exclusive lock on the open file, which closing the descriptor releases. ERR_LIMIT
 * after `milliseconds`.
 */
int lock_wait(int fd, unsigned milliseconds, struct err *err) must_check;

#endif
