/*
 * The directories of the engine that calls, and the files in them that it mounts into this
 * container by itself. They are found from what the engine says and no user chooses: the path of
 * the bundle, the container's ID and, under Docker, the path of its root. So they are right for
 * every data-root, --state and graphroot, without a look at configuration files. Only podman's
 * `volume_path` needs one (engine_volumes.h).
 *
 * A user's own mount of such a file would look the same in config.json. It is told apart by the ID:
 * engines choose 64 random digits after the user named the mounts, so a directory named by the ID
 * of this container, where only root can make one, is the engine's for this container.
 */
#ifndef SHIM_ENGINE_H
#define SHIM_ENGINE_H

#include "shim/oci/spec.h"

/* The users of an engine choose what is mounted in `volumes`: by a volume's driver and options. */
enum { VOLUME_DIRECTORIES = 3, ENGINE_OTHERS = 4 };

/* A container or pod whose files an engine mounts into this container as well. */
struct engine_other {
    const char *id;
    bool files, shm, pod; /* resolv.conf and others; /dev/shm; a pod of Kubernetes: id is its uid */
};

struct engine_directories {
    const char *volumes[VOLUME_DIRECTORIES]; /* the last is this engine's; it may be NULL, and so
                                                may all that follows */
    const char *root;                        /* of the container, in the engine's data */
    const char *data;                        /* the data-root of Docker, the graphroot of podman */
    const char *containers, *store;          /* in `data` */
    const char *records;                     /* of podman: DATA/DRIVER-containers; or NULL */
    const char *record_id;                   /* of the container there; NULL without `records` */
    const char *state;                       /* of containerd: its --state */
    const char *id;                          /* of the container: 64 digits */
    const char *own;      /* the end of the path of the container's directory, "…/ID"; or NULL */
    bool own_is_whole;    /* `own` is the whole path */
    const char *executor; /* of BuildKit: the directory of the bundle; NULL: no step of a build */
    const char *step;     /* of buildah: the bundle of a step; or NULL. Borrowed. */
    struct engine_other others[ENGINE_OTHERS];
    size_t other_count;
    bool any_shm; /* it joins the ipc namespace of a container that is not known, in an engine
                     without root: that has no control groups to tell, and only containers of its
                     user */
};

/*
 * Finds the directories; `bundle` is the path of the bundle, `id` the container's. Reads the
 * control groups of the containers whose namespaces this one joins. Texts are in the arena or
 * borrowed. Fails only without memory.
 */
int engine_directories_find(const struct spec *spec, const char *bundle, const char *id,
                            struct arena *arena, struct engine_directories *out,
                            struct err *err) must_check;

/*
 * Returns true if the path is one that this engine mounts into this container by itself. Whether
 * only root could have made it is up to the caller. Pure.
 */
bool engine_mounts(const struct engine_directories *engine, const char *path);

/*
 * Returns true for the root of a container in an engine's storage, DATA/STORE/…/ID…, outside of its
 * volumes. Whether only root could have made it is up to the caller. Pure.
 */
bool engine_stores_root(const struct engine_directories *engine, const char *root);

/* The part of an engine that a path lies in. */
struct engine_place {
    const char *state; /* the directory of an engine that has it, if the engine does not mount it
                          from there; or NULL */
    bool mounted; /* a file that an engine mounts, perhaps into another container, or `volume` */
    bool volume;  /* in a named volume */
};

/* Finds it by the path alone. Texts are borrowed. Pure. */
struct engine_place engine_find_place(const struct engine_directories *engine, const char *path);

/* Returns true if users can have something mounted at or below the path at any time. Pure. */
bool engine_is_unsteady(const struct engine_directories *engine, const char *path);

#endif
