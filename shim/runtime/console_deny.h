/* The hook own_hook_console: this program, on the host, while the low-level runtime waits. */
#ifndef SHIM_CONSOLE_DENY_H
#define SHIM_CONSOLE_DENY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

/* Returns true if this is the call of that hook. */
bool console_is_hook(int argc, char *const argv[]);

/*
 * Takes the host's console (character device 5:1) from the cgroup of the container, whose state
 * (runtime-spec, runtime.md#state) is read from stdin: by a BPF program that is added to those of a
 * cgroup v2, where all must agree, or by devices.deny of cgroup v1. ERR_UNSUPPORTED if the
 * container has no cgroup of its own.
 */
int console_deny(struct err *err) must_check;

#endif
