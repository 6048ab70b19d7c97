/*
 * Removes from /run/flatbed what launches left that are over: the state of containers that the
 * low-level runtime has no more (a `run` in the foreground deletes its container itself), the
 * claims on the private sides of pools, and the temporary files of calls that were killed.
 *
 * A file says in its member "launch" whose it is (launch_mark.h); a file without it stays.
 */
#ifndef SHIM_STATE_SWEEP_H
#define SHIM_STATE_SWEEP_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define STATE_DIRECTORY "state" /* /run/flatbed/state/ROOT/ID.json */
#define POOL_DIRECTORY  "pool"  /* /run/flatbed/pool/DEVICE-INODE.json, of the private side */
#define STATE_LAUNCH    "launch"

enum { STATE_BYTES = 1024 * 1024 };

/* Sweeps the states under one --root, or NULL. Does nothing if another process has the lock. */
void state_sweep(const char *root);

/* Sweeps everything. *count is how many files were removed; with `dry` how many would be. */
int state_sweep_all(bool dry, size_t *count, struct err *err) must_check;

/* Sweeps the open directory of pools, whose lock this process has. */
void state_sweep_pools(int dirfd);

#endif
