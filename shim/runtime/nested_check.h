/* The hook that nested_hook.h puts into config.json: this program, in the container's mounts. */
#ifndef SHIM_NESTED_CHECK_H
#define SHIM_NESTED_CHECK_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

/* Returns true for the command line of the hook. Pure. */
bool nested_is_hook(int argc, char *const argv[]);

/*
 * Runs the hook, in the container's mount namespace: ERR_POLICY if a mount is not where it should
 * be.
 */
int nested_check(int argc, char *const argv[], struct err *err) must_check;

#endif
