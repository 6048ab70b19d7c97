/* The health of a running container, of which Docker from version 26 on writes nothing to disk. */
#ifndef SHIM_DOCKER_HEALTH_H
#define SHIM_DOCKER_HEALTH_H

#include "base/json/json.h"

/*
 * Asks the daemon at $DOCKER_HOST, if that is a socket of this host, or else at /run/docker.sock
 * (GET /containers/ID/json of its API). Returns what it says of the container of that ID, for
 * json_free; NULL if it has none, sends nothing for two seconds, or more than 1 MiB.
 */
struct json_doc *docker_health_ask(const char *id);

#endif
