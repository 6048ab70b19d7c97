/* The parts of containers_list: each adds the containers of one kind of store. */
#ifndef SHIM_CONTAINER_SOURCES_H
#define SHIM_CONTAINER_SOURCES_H

#include "base/json/json.h"
#include "shim/admin/containers/containers.h"
#include "shim/admin/containers/overlays.h"

enum { STATE_BYTES = 16 * 1024 * 1024 };

/* Returns a new container of the list, or NULL without memory. */
struct container_found *container_add(struct container_list *list);

/* Returns a copy of the text in the arena, NULL for NULL; sets *failed without memory. */
const char *container_text(struct container_list *list, const char *text, bool *failed);

/* Takes note of a directory that does not answer, or cannot be read. */
int container_silent(struct container_list *list, const char *path, struct err *err) must_check;

/* Reads a JSON file of at most STATE_BYTES. NULL if it cannot be read: it may be gone. */
struct json_doc *container_state(int dirfd, const char *path);

/* Adds the containers of Docker in a data-root. A directory that is none has none. */
int docker_add(struct container_list *list, const char *root, const struct overlays *mounts,
               struct err *err) must_check;

/* Adds the containers of podman, buildah or CRI-O in a storage. */
int podman_add(struct container_list *list, const char *root, const struct overlays *mounts,
               struct err *err) must_check;

/* Adds the tasks of containerd that are mounted, but for Docker's. */
int containerd_add(struct container_list *list, const struct overlays *mounts,
                   struct err *err) must_check;

/*
 * Asks the containerds of this host for their containers. Adds those that are not in the list,
 * which are stopped, and sets the address of the others, also of Docker's with a snapshotter. One
 * that does not answer is noted as silent.
 */
int containerd_ask(struct container_list *list, const struct containers_where *where,
                   struct err *err) must_check;

/*
 * Sets what an image's configuration says of `count` layers, topmost first. Returns false if that
 * has other layers. Pure.
 */
bool image_history_read(const struct json *config, struct container_layer *about, size_t count,
                        struct arena *arena);

#endif
