/*
 * The namespaces that a container shares with the host or joins (config.json: linux.namespaces).
 *
 * "/proc/PID/ns/net" names another namespace once the process has entered another one, and the
 * low-level runtime opens the path after we have judged it. So such a namespace is held: bound in
 * the directory of pinned sources (pin.h), and joined by that path.
 */
#ifndef SHIM_NAMESPACES_H
#define SHIM_NAMESPACES_H

#include "base/json/json.h"
#include "shim/privilege/namespace.h"

#include <stdbool.h>
#include <sys/stat.h>

/* A namespace that is joined by the path of a process, and may not be the host's. */
struct joined_namespace {
    struct json *entry; /* of linux.namespaces */
    enum namespace_kind kind;
    const char *path; /* "/proc/PID/ns/net" */
    const char *hold; /* where it is held: the same path at each launch */
    dev_t dev;        /* of the namespace that was judged */
    ino_t ino;
};

/* Returns true for a namespace of the host; a path that cannot be looked at counts as such. */
bool namespace_is_host(const char *path, enum namespace_kind kind);

#endif
