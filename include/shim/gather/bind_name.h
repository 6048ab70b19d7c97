/*
 * Opens the source of a bind mount and names it: by where it is on the host, and by what the mount
 * table says that it shows there (mount_table_name).
 */
#ifndef SHIM_BIND_NAME_H
#define SHIM_BIND_NAME_H

#include "shim/mount/mount_table.h"

struct bind_name {
    const char *found;               /* the path of the descriptor, without symbolic links */
    const char *name;                /* its path in the widest mount of its file system */
    const struct mount_entry *mount; /* the mount that holds it; of the table */
};

/*
 * Opens `path` with O_PATH as the low-level runtime would, starting from the directory `bundle` if
 * it is relative, but follows no magic link of /proc (openat2(2)). Returns a descriptor, which the
 * caller closes, or -1 and errno.
 */
int bind_open(int bundle, const char *path);

/*
 * Names the open file `fd`. `path` is its path if the caller knows it, which saves a look at /proc,
 * or NULL. Texts are in the arena or borrowed from `path`. ERR_POLICY: its place in the mount table
 * is unknown.
 */
int bind_name_find(int fd, const char *path, const struct mount_table *table, struct arena *arena,
                   struct bind_name *out, struct err *err) must_check;

#endif
