/* What the sources that look at binds share. */
#ifndef SHIM_BINDS_LOOK_H
#define SHIM_BINDS_LOOK_H

#include "shim/as_user.h"
#include "shim/binds.h"
#include "shim/mount_table.h"

/* Opens what the runtime would find there, but never through a magic link of /proc. -1 and errno.
 */
int binds_open(int bundle, const char *path);

/* Where an O_PATH descriptor is (mount_table.h). */
struct bind_name {
    const char *found;   /* without symlinks */
    const char *name;    /* what that is */
    const char *overlay; /* the mount point of the overlay that it is in, or NULL */
};

/* `path` is what is to be `found`, where that is known, or NULL. ERR_POLICY if it cannot be told.
 */
int binds_name(int fd, const char *path, const struct mount_table *table, struct arena *arena,
               struct bind_name *out, struct err *err) must_check;

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
