/*
 * The output of a program, for the few questions that only another program can answer. The path is
 * absolute; stdin and stderr are /dev/null, other descriptors are closed. Works even if the caller
 * ignores SIGCHLD.
 */
#ifndef SHIM_CHILD_H
#define SHIM_CHILD_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

/*
 * Runs argv[0] and puts the beginning of its output, NUL-terminated, into text. A child that writes
 * more than fits, or runs longer than two seconds, is killed. *status is its exit status, or -1 if
 * it was killed. Fails only if the program cannot be started.
 */
int child_output(char *const argv[], char *text, size_t size, int *status,
                 struct err *err) must_check;

#endif
