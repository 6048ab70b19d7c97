/* Names of capabilities (capabilities(7)), as libcap knows them. Pure. */
#ifndef SHIM_CAPABILITY_H
#define SHIM_CAPABILITY_H

#include <stdbool.h>
#include <stdint.h>

/* The bit of "CAP_CHOWN", "chown" or "CHOWN"; 0 for a name that libcap does not know. */
uint64_t capability_bit(const char *name);

#endif
