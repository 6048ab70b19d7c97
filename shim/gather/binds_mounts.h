/*
 * Finds what is mounted at and below the source of a bind mount, and where users can have an engine
 * mount something.
 */
#ifndef SHIM_BINDS_MOUNTS_H
#define SHIM_BINDS_MOUNTS_H

#include "shim/gather/binds.h"
#include "shim/mount/mount_table.h"

/* The directories of an engine. Its users choose what is mounted in `volumes`: by a volume's driver
 * and options. */
enum { VOLUME_DIRECTORIES = 3 };
struct engine_directories {
    const char *volumes[VOLUME_DIRECTORIES]; /* the last may be NULL, and so may all that follows */
    const char *root;                        /* of the container, in the engine's data */
    const char *containers, *store;          /* beside it */
};

/* Finds the directories from the path of the container's root, in the arena. Fails only without
 * memory. */
int engine_directories_find(const struct spec *spec, struct arena *arena,
                            struct engine_directories *out, struct err *err) must_check;

/* Fills in `engine` and `state` of a source by its path. */
void binds_find_state(const struct engine_directories *engine, struct bind_source *s);

/* Returns true for the programs that engines mount for --init. */
bool binds_is_init(const char *path);

/* Returns true if users can have something mounted at or below the path at any time. */
bool binds_is_unsteady(const struct engine_directories *engine, const char *path);

/* Returns true if the mount could show anything of the host, whatever the name `name` of what lies
 * in it. */
bool binds_is_opaque(const struct engine_directories *engine, const struct mount_entry *m,
                     const char *name);

/* Fills in what is mounted beneath `s->found`, in the arena. Fails only without memory. */
int binds_find_below(const struct engine_directories *engine, const struct mount_table *table,
                     struct arena *arena, struct bind_source *s, struct err *err) must_check;

#endif
