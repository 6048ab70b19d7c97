/*
 * The config.json of a container that an engine has, found in the directories where engines keep
 * their state: containerd's and Docker's task directories, and the stores of Docker and podman
 * (engine_each_store). No engine is asked.
 *
 * The container's maker controls the content of those files, so they are only ever read.
 */
#ifndef SHIM_CONTAINER_H
#define SHIM_CONTAINER_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

struct container {
    char *id;
    char *config; /* the path of its config.json */
};

/*
 * Finds a container by its ID, the start of the ID, or its name in Docker or podman. `states` are
 * directories to search before the usual ones (a containerd state directory, Docker's exec-root or
 * data-root, podman's storage). None, or more than one, is ERR_USAGE.
 */
int container_find(const char *word, const char *const *states, size_t state_count,
                   struct container *out, struct err *err) must_check;

/* Frees the texts. */
void container_free(struct container *c);

#define _cleanup_container_ _cleanup_(container_free)

#endif
