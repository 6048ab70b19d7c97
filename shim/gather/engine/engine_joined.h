/* Finds the container whose namespace another one joins (--network=container:NAME). */
#ifndef SHIM_ENGINE_JOINED_H
#define SHIM_ENGINE_JOINED_H

#include "shim/oci/spec.h"

/* Returns true if config.json names the namespace of that type by /proc/PID/ns. Pure. */
bool engine_joins(const struct spec *spec, const char *type);

/*
 * Sets *id to the ID, 64 digits in the arena, of the container whose namespace of that type ("ipc",
 * "network" …) config.json names by /proc/PID/ns: that of the control groups of PID. NULL if there
 * is none, or if they name more than one. Fails only without memory.
 */
int engine_joined_find(const struct spec *spec, const char *type, struct arena *arena,
                       const char **id, struct err *err) must_check;

#endif
