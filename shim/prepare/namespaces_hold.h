/*
 * The second look at the namespaces that a container joins by the path of a process: they are
 * opened again and held in PIN_DIRECTORY (pin.h), from where the low-level runtime joins them.
 */
#ifndef SHIM_NAMESPACES_HOLD_H
#define SHIM_NAMESPACES_HOLD_H

#include "shim/plan/decision/decision.h"

/*
 * Opens and holds them, in the private namespace of pin_begin. ERR_POLICY if one is no longer what
 * was judged.
 */
int namespaces_hold(struct decision *decision, struct err *err) must_check;

#endif
