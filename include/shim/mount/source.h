/*
 * Finds or makes the source of a volume on the host, and never trusts what a user could have put in
 * the way.
 *
 * Paths are walked component by component with O_NOFOLLOW. A symbolic link is followed only if only
 * root could have made or moved it (trust.h), and all that leads to it; any other is an error that
 * names it. A source is `exposed` if a user other than root could replace one of the components:
 * the low-level runtime would look the path up again, so it must be given a pinned one (pin.h).
 *
 * A missing source is made one component at a time, first as the container's own user (in a child
 * with the user's ids: a root-squashed NFS lets no one else), then, if that user may not and only
 * root may write to the directory, by root (directories on the way are then owned by root, the last
 * one by the user). Directories on the way have mode 0755.
 *
 * A directory that even root may not search (such an export again) is searched as that user. A
 * source that is found so is pinned as well: the low-level runtime could not look it up.
 */
#ifndef SHIM_SOURCE_H
#define SHIM_SOURCE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/host/users/as_user.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct source {
    int fd;       /* O_PATH, of the source, or of the deepest directory that exists */
    dev_t dev;    /* of fd */
    ino_t ino;    /* of fd */
    bool missing; /* fd is that directory, and `rest` what is not there */
    bool directory;
    bool regular;
    dev_t character; /* the number of a character device, or 0 */
    bool exposed;
    bool linked;           /* a symbolic link was followed: the path is not canonical */
    bool searched_as_user; /* root was refused on the way */
    char *rest;            /* "a/b/c"; owned */
};

#define SOURCE_INIT                                                                                \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* The way to make a missing source. */
struct source_make {
    struct user_ids who;
    mode_t mode;
};

/*
 * Finds the source at a clean absolute path. A missing source is no error; a device or a socket is
 * ERR_POLICY, as is a symbolic link that is not followed. The caller closes *out (source_close).
 */
int source_find(const char *path, struct source *out, struct err *err) must_check;

/* As source_find, searching as `user`, if not NULL, what root may not search. */
int source_find_for(const char *path, const struct user_ids *user, struct source *out,
                    struct err *err) must_check;

/* As source_find, but a device or a socket is no error. */
int source_look(const char *path, struct source *out, struct err *err) must_check;

/* Opens a regular file for reading that only root could have written or put there; -1 for any
 * other. The caller closes it. */
int source_open_trusted(const char *path) must_check;

/*
 * A directory that only root could replace, remembered from one source to the next: most sources of
 * a container are in one of a few. Begins as SOURCE_DIRECTORY_INIT.
 */
struct source_directory {
    char *path;     /* as it was asked for; owned */
    int fd;         /* -1: others could replace it, so no walk starts from it */
    struct stat st; /* of fd */
    bool linked;    /* a symbolic link leads to it */
};

#define SOURCE_DIRECTORY_INIT                                                                      \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Closes the directory, and forgets it. */
void source_directory_close(struct source_directory *directory);

/* As source_look, starting from that directory if the path is in it; else it becomes the path's. */
int source_look_in(struct source_directory *directory, const char *path, struct source *out,
                   struct err *err) must_check;

/* As source_find_for, starting in the same way. */
int source_find_in(struct source_directory *directory, const char *path,
                   const struct user_ids *user, struct source *out, struct err *err) must_check;

/* As source_find, making what is missing, as `make` says. */
int source_find_or_make(const char *path, const struct source_make *make, struct source *out,
                        struct err *err) must_check;

/*
 * Makes a directory in one that only root can write to, and gives it to the ids of `make`. One that
 * is there stays as it is; anything else of that name is ERR_POLICY.
 */
int source_make_directory(int dirfd, const char *name, const struct source_make *make,
                          struct err *err) must_check;

/* Closes the descriptor, and frees `rest`. */
void source_close(struct source *source);

#define _cleanup_source_ _cleanup_(source_close)

#endif
