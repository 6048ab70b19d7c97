/* Caches of deep-learning programs, and the environment variable that moves each. */
#ifndef SHIM_PRESET_H
#define SHIM_PRESET_H

#include "base/buf.h"

/* Returns the variable of a preset such as "torch", or NULL if there is no such preset. */
const char *preset_variable(const char *name);

/* Appends all names as "a, b, c", for messages. */
void preset_print_names(struct buf *out);

#endif
