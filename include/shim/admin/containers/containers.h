/*
 * The containers of this host, running or stopped, by the files in which Docker and podman keep
 * them. A directory that does not answer is given up after five seconds.
 *
 * Docker (moby, daemon/graphdriver/overlay2) and podman (containers/storage, drivers/overlay) keep
 * a directory for each layer, with "diff", "lower" and, for a container, "work". Running containers
 * of containerd are known by their mounts. For those that are stopped, and those of Docker on
 * containerd's store, containerd is asked by ctr(8), where it is installed and runs.
 */
#ifndef SHIM_CONTAINERS_H
#define SHIM_CONTAINERS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum container_engine { CONTAINER_DOCKER, CONTAINER_PODMAN, CONTAINER_CONTAINERD, CONTAINER_MOUNT };
enum { CONTAINER_ENGINES = CONTAINER_MOUNT + 1 };

extern const char *const container_engine_names[CONTAINER_ENGINES]; /* "docker" … */

/* A container, as a list has it. All texts come from the host's users. */
struct container_found {
    enum container_engine engine;
    const char *id, *name, *image; /* the name may be the ID; image NULL: unknown */
    const char *image_id;          /* digits alone; NULL: unknown */
    bool running;
    bool users;          /* mounted with userxattr */
    const char *store;   /* the engine's directory; NULL: known by its mount alone */
    const char *layer;   /* the directory of the container in the store */
    const char *super;   /* the options of its mount; NULL: known by the store, or by containerd */
    const char *address; /* of the containerd that knows it; NULL: none does */
    const char *space;   /* its namespace there */
    const char *snapshotter; /* of the snapshot with its ID; NULL: containerd names it */
    const char *problem;     /* why its files cannot be found; NULL: they can */
};

struct container_list {
    struct arena arena; /* owns the texts */
    struct container_found *list;
    size_t count;
    const char **silent; /* directories that do not answer, cannot be read, or are missing */
    size_t silent_count;
};

struct containers_where {
    bool engines[CONTAINER_ENGINES]; /* those that are wanted */
    const char *const *stores;       /* more data-roots of Docker and storages of podman */
    size_t store_count;
    const char *const *containerds; /* more sockets of containerd */
    size_t containerd_count;
};

/* Lists the containers of the engines. Fails without memory, or if /proc cannot be read. */
int containers_list(const struct containers_where *where, struct container_list *out,
                    struct err *err) must_check;

/* Adds the overlay that is mounted at a path. ERR_USAGE if there is none. */
int containers_add_mount(struct container_list *list, const char *point,
                         struct err *err) must_check;

/* Frees the list. */
void containers_free(struct container_list *list);

#define _cleanup_containers_ _cleanup_(containers_free)

/* ---- the layers of one ---- */

struct container_layer {
    const char *created_by; /* the image's word for it; NULL: unknown */
};

/* The directories of a container's root, open. */
struct container_root {
    struct arena arena; /* owns the texts */
    bool users;         /* its marks are attributes of "user." (mounted with userxattr) */
    int upper;          /* owned */
    int *layers;        /* owned, topmost first */
    struct container_layer *about;
    size_t count;
    const char *upper_path;
};

#define CONTAINER_ROOT_INIT                                                                        \
    {                                                                                              \
        .upper = -1                                                                                \
    }

/*
 * Opens the directories of a container. ERR_SYSTEM with ENOENT if the container is gone. Links in
 * the store lead to places in the store alone.
 */
int container_root_open(const struct container_found *container, struct container_root *out,
                        struct err *err) must_check;

/*
 * Sets what the container's image says of the layers, of which the engine may have added one on
 * top. Without an answer they stay as they are. May ask containerd, as often as the image has
 * manifests.
 */
void container_root_history(const struct container_found *container, struct container_root *root);

/* Closes the directories. Safe on CONTAINER_ROOT_INIT. */
void container_root_close(struct container_root *root);

#define _cleanup_container_root_ _cleanup_(container_root_close)

#endif
