/* What the sources that look at binds share. */
#ifndef SHIM_BIND_NAME_H
#define SHIM_BIND_NAME_H

#include "shim/gather/binds.h"
#include "shim/host/as_user.h"
#include "shim/mount/mount_table.h"

/* Opens what the runtime would find there, but never through a magic link of /proc. -1 and errno.
 */
int binds_open(int bundle, const char *path);

/* Where an O_PATH descriptor is (mount_table.h). */
struct bind_name {
    const char *found; /* without symlinks */
    const char *name;  /* what that is */
    const struct mount_entry *mount;
};

/* `path` is what is to be `found`, where that is known, or NULL. ERR_POLICY if it cannot be told.
 */
int binds_name(int fd, const char *path, const struct mount_table *table, struct arena *arena,
               struct bind_name *out, struct err *err) must_check;

/* Where users can have an engine mount what they like, by a volume's driver and its options. */
enum { VOLUME_FOLDERS = 3 };
struct engine_folders {
    const char *volumes[VOLUME_FOLDERS]; /* the last may be NULL, as may be what follows */
    const char *root;                    /* of the container, in the engine's data */
    const char *containers, *store;      /* others there */
};

int binds_find_engine(const struct spec *spec, struct arena *arena, struct engine_folders *out,
                      struct err *err) must_check;

/* Fills in `engine` and `state`, by the path. */
void binds_look_at_state(const struct engine_folders *engine, struct bind_source *s);

/* True for the programs that engines mount for --init. */
bool binds_is_init(const char *path);

/* True if something can come to be mounted at or below the path at any time. */
bool binds_unsteady(const struct engine_folders *engine, const char *path);

/* True if a mount could show anything of the host, whatever the name of what is in it. */
bool binds_is_opaque(const struct engine_folders *engine, const struct mount_entry *m,
                     const char *name);

/* Fills in what is mounted beneath `s->found`. */
int binds_find_below(const struct engine_folders *engine, const struct mount_table *table,
                     struct arena *arena, struct bind_source *s, struct err *err) must_check;

struct bind_wish {
    int fd;           /* O_PATH, or -1: keeps the inode's number from being given anew */
    dev_t dev;        /* of fd */
    ino_t ino;        /* of fd */
    const char *path; /* where it was found */
    bool settled;     /* nobody but root could put something else there */
    bool directory;   /* of what is settled */
    bool readable, writable;
};

/* Fills in what this user can read and write by themselves: the path must be open to them as well.
 */
int binds_try_access(const struct user_ids *user, struct bind_wish *wishes, size_t count,
                     struct err *err) must_check;

#endif
