/* Tries which sources of bind mounts a user can read and write, in a child with the ids of that
 * user. */
#ifndef SHIM_BINDS_ACCESS_H
#define SHIM_BINDS_ACCESS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/host/users/as_user.h"

#include <stdbool.h>
#include <sys/stat.h>

struct bind_wish {
    int fd;    /* O_PATH, or -1 for nothing to try: keeps the inode number from being reused */
    dev_t dev; /* of fd */
    ino_t ino; /* of fd */
    const char *path; /* the path at which it was found */
    bool settled;     /* only root can put something else at that path */
    bool directory;   /* set if it is settled */
    bool readable, writable;
};

/*
 * Fills in `readable` and `writable`: the user must also be let through every directory of the
 * path. ERR_POLICY if the child did not answer, ERR_SYSTEM if there is none.
 */
int binds_try_access(const struct user_ids *user, struct bind_wish *wishes, size_t count,
                     struct err *err) must_check;

#endif
