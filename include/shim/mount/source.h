/*
 * The host's side of a volume: its source is found, or made, without ever trusting what a user
 * could have put in the way.
 *
 * Paths are walked component by component with O_NOFOLLOW. A symlink is followed only where nobody
 * but root could have made or moved it (trust.h), and where that is true of all that leads to it;
 * any other is an error that names it. A source is `exposed` when somebody but root could replace
 * one of the components: the runtime behind us would look the path up again, so it must be given a
 * pinned one (pin.h).
 *
 * A missing source is made one component at a time, first as the container's own user (in a child
 * with his ids: a root-squashed NFS lets nobody else), then, where he may not and the folder is
 * closed to all but root, by root (folders on the way are then root's, the last one his). Folders
 * on the way have mode 0755.
 *
 * A folder that even root may not search (such an export again) is looked into as that user. What
 * is found so is pinned as well: the runtime behind us could not look it up.
 */
#ifndef SHIM_SOURCE_H
#define SHIM_SOURCE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "shim/host/as_user.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct source {
    int fd;       /* O_PATH, of the source, or of the deepest folder that exists */
    dev_t dev;    /* of fd */
    ino_t ino;    /* of fd */
    bool missing; /* fd is that folder, and `rest` what is not there */
    bool directory;
    bool regular;
    dev_t character; /* which device of characters it is, or 0 */
    bool exposed;
    bool linked;           /* a symlink was followed: the path is not where it is */
    bool searched_as_user; /* root was refused on the way */
    char *rest;            /* "a/b/c"; owned */
};

#define SOURCE_INIT                                                                                \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* How a missing source is made. */
struct source_make {
    struct user_ids who;
    mode_t mode;
};

/* Walks a clean absolute path. That it is missing is no error; a device or a socket is. */
int source_find(const char *path, struct source *out, struct err *err) must_check;

/* The same, looking as that user, if not NULL, where root may not. */
int source_find_for(const char *path, const struct user_ids *user, struct source *out,
                    struct err *err) must_check;

/* As source_find for what may be a device or a socket as well. */
int source_look(const char *path, struct source *out, struct err *err) must_check;

/*
 * A folder that nobody but root could replace, remembered from one look to the next: most sources
 * of a container are in one of a few. Begins as SOURCE_FOLDER_INIT.
 */
struct source_folder {
    char *path;     /* as it was asked for; owned */
    int fd;         /* -1: others could, so it is no place to start from */
    struct stat st; /* of fd */
    bool linked;    /* a symlink leads to it */
};

#define SOURCE_FOLDER_INIT                                                                         \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

void source_folder_close(struct source_folder *folder);

/* As source_look, starting from that folder if the path is in it; else it becomes the path's. */
int source_look_in(struct source_folder *folder, const char *path, struct source *out,
                   struct err *err) must_check;

/* As source_find_for, starting in the same way. */
int source_find_in(struct source_folder *folder, const char *path, const struct user_ids *user,
                   struct source *out, struct err *err) must_check;

/* As source_find, making what is missing. */
int source_find_or_make(const char *path, const struct source_make *make, struct source *out,
                        struct err *err) must_check;

/*
 * A folder in one that is root's alone: root's, or given to those ids. One that is there stays as
 * it is; anything else of that name is an error.
 */
int source_make_folder(int dirfd, const char *name, const struct source_make *make,
                       struct err *err) must_check;

void source_close(struct source *source);

#define _cleanup_source_ _cleanup_(source_close)

#endif
