/*
 * Signals that end a program, held back while it has something to remove: SIGINT, SIGTERM, SIGHUP.
 */
#ifndef SHIM_INTERRUPT_H
#define SHIM_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* Blocks the signals. `before` is the mask to go back to: a signal that came ends the program then.
 */
void interrupts_hold(sigset_t *before);

/* Returns true if one of them came. */
bool interrupts_pending(void);

#endif
