/*
 * Signals that end flatten (Ctrl-C, SIGTERM, SIGHUP). A handler notes the signal; the next read
 * returns an error, so that everything is cleaned up; then `main` dies of the signal.
 */
#ifndef FLATTEN_INTERRUPT_H
#define FLATTEN_INTERRUPT_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

/* Installs the handlers. Signals that flatten was started to ignore stay ignored. */
void interrupt_install(void);

/* True once a signal has come. */
bool interrupted(void);

/* Returns 0; or -1 with ERR_SYSTEM once a signal has come. */
int interrupt_check(struct err *err) must_check;

/* Dies of the signal, if one has come; else returns. */
void interrupt_die(void);

#endif
