/*
 * What a program says: for the rare questions that only another program can answer. The path is
 * absolute; stdin and stderr are /dev/null, other descriptors are closed. Works where the caller
 * ignores SIGCHLD.
 */
#ifndef SHIM_CHILD_H
#define SHIM_CHILD_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

/*
 * Runs argv[0] and puts the beginning of its output, NUL-terminated, into text. Whatever does not
 * fit, or comes later than two seconds after the start, is not waited for: the child is killed.
 * *status is its exit status, or -1 if it was killed.
 */
int child_output(char *const argv[], char *text, size_t size, int *status,
                 struct err *err) must_check;

#endif
