/* The overlays that are mounted on this host, in any mount namespace, by their upper directory. */
#ifndef SHIM_OVERLAYS_H
#define SHIM_OVERLAYS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct overlay_seen {
    const char *key;   /* the last two components of the upper directory: "ID/diff" */
    const char *point; /* where it is mounted, in some namespace */
    const char *super; /* its options, for snapshots of containerd; else NULL */
    bool users;        /* userxattr */
};

struct overlays {
    struct arena arena; /* owns the texts */
    struct overlay_seen *list;
    size_t count;
    bool failed;
};

/* Reads the tables of all namespaces. */
int overlays_read(struct overlays *out, struct err *err) must_check;

/* Returns an overlay of "ID/diff", or NULL. */
const struct overlay_seen *overlays_find(const struct overlays *all, const char *id);

/* Returns a snapshot of containerd that is mounted at ".../ID" or ".../ID/rootfs", or NULL. */
const struct overlay_seen *overlays_of_task(const struct overlays *all, const char *id);

/* Returns true for options with "userxattr". */
bool overlay_is_users(const char *super);

/*
 * Splits the mount point of a task: ".../io.containerd.runtime.v2.task/NAMESPACE/ID/rootfs". The
 * parts point into it.
 */
bool overlay_task(const char *point, const char **space, size_t *space_len, const char **id,
                  size_t *id_len);

/* Frees the list. */
void overlays_free(struct overlays *all);

#define _cleanup_overlays_ _cleanup_(overlays_free)

#endif
