/*
 * Being told to stop (Ctrl-C, SIGTERM, SIGHUP): noted by a handler, found at the next read,
 * reported as an error like any other, so that everything is cleaned up; then `main` dies of the
 * signal.
 */
#ifndef FLATTEN_INTERRUPT_H
#define FLATTEN_INTERRUPT_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

/* Installs the handlers. Signals that the caller ignores stay ignored. */
void interrupt_install(void);

/* True once a signal has come. */
bool interrupted(void);

/* 0, or -1 with ERR_SYSTEM (EINTR) once a signal has come. */
int interrupt_check(struct err *err) must_check;

/* If a signal has come, dies of it; else returns. */
void interrupt_die(void);

#endif
