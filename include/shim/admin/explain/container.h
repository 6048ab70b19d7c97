/*
 * The config.json of a container that an engine has, found in the folders where engines keep their
 * state: containerd's and Docker's task folders, podman's storage. No engine is asked.
 *
 * What those files say comes from whoever made the container, so it is only ever read.
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
 * By ID, the start of one, or the name that Docker or podman has for it. `states` are folders to
 * look in before the usual ones (a containerd state folder, Docker's exec-root or data-root,
 * podman's storage). None, or more than one, is ERR_USAGE.
 */
int container_find(const char *word, const char *const *states, size_t state_count,
                   struct container *out, struct err *err) must_check;

void container_free(struct container *c);

#define _cleanup_container_ _cleanup_(container_free)

#endif
