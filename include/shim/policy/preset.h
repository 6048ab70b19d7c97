/* Caches of deep-learning programs, and the environment variable that moves each. */
#ifndef SHIM_PRESET_H
#define SHIM_PRESET_H

#include <stddef.h>

/* The variable of a preset such as "torch"; NULL if there is no such preset. */
const char *preset_variable(const char *name);

/* All names, for messages. */
const char *const *preset_names(size_t *count);

#endif
