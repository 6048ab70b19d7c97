/*
 * The directory in which podman keeps named volumes, where its configuration names another one than
 * the graphroot's "volumes". Nothing in config.json and no path of the bundle shows it.
 */
#ifndef SHIM_ENGINE_VOLUMES_H
#define SHIM_ENGINE_VOLUMES_H

#include "base/arena.h"
#include "base/err.h"

/* Returns the value of `volume_path` in the table `engine` of a containers.conf, in the arena; NULL
 * if there is none, if it is no clean absolute path, or without memory. Pure. */
const char *engine_volumes_read(const char *toml, struct arena *arena);

/*
 * Finds the directory as podman does: in the file that $CONTAINERS_CONF names, which podman passes
 * on, else in those of /usr/share/containers and /etc/containers (containers.conf(5)). Only files
 * that root alone could have written count. *out is NULL if none names a directory.
 */
int engine_volumes_find(struct arena *arena, const char **out, struct err *err) must_check;

#endif
