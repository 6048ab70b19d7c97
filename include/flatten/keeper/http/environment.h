/* Variables of the environment. */
#ifndef FLATTEN_ENVIRONMENT_H
#define FLATTEN_ENVIRONMENT_H

#include <stdlib.h>

/* Returns the value of the variable; NULL if it is unset or empty. */
static inline const char *environment_get(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

#endif
