/*
 * Reads the kernel's table of mounts (proc(5), /proc/PID/mountinfo), and names paths by it.
 *
 * A directory can be seen at several places: a Docker volume made with `o=bind,device=/etc` is
 * /etc under another name. Its name here is that of the mount of the same file system that shows
 * most of it (the shortest root; the first of several), which for /etc is /. Pure, but for
 * mount_table_read.
 */
#ifndef SHIM_MOUNT_TABLE_H
#define SHIM_MOUNT_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

struct mount_entry {
    int id;
    unsigned major, minor;
    const char *root;  /* the part of the file system that is mounted */
    const char *point; /* the mount point */
    const char *type;  /* of the file system; "" if the line does not say */
    bool idmapped;     /* it shows other owners than the file system has */
    const char *super; /* an overlay's own options, as the kernel escapes them; NULL for others */
    /* The rest is read for overlays only. */
    const char *options;    /* of the mount: "rw,nosuid,relatime" */
    unsigned shared, slave; /* how it propagates: its peer group, and its master's; 0: none */
};

struct mount_table {
    struct mount_entry *list;
    size_t count;
};

/*
 * Returns a copy of `text` in which the kernel's octal escapes ("\040") are undone. NULL without
 * memory.
 */
char *mount_table_unescape(const char *text, size_t len, struct arena *arena) must_check;

/* Parses the text of a mountinfo, into the arena. ERR_FORMAT if it is none. */
int mount_table_parse(const char *text, struct arena *arena, struct mount_table *out,
                      struct err *err) must_check;

/* Reads the table of the mount namespace of this process, into the arena. */
int mount_table_read(struct arena *arena, struct mount_table *out, struct err *err) must_check;

/* Reads the table in a file like /proc/PID/mountinfo, into the arena. */
int mount_table_read_at(int dirfd, const char *path, struct arena *arena, struct mount_table *out,
                        struct err *err) must_check;

/*
 * Appends the name of what `path` shows, which lies in the mount with that id. Returns false, and
 * appends nothing, if the table does not have it.
 */
bool mount_table_name(const struct mount_table *table, int id, const char *path, struct buf *out);

/* Returns the mount with that id, or NULL. */
const struct mount_entry *mount_table_find(const struct mount_table *table, int id);

/* Returns the overlay that is seen at a mount point (clean, without symbolic links), or NULL. */
const struct mount_entry *mount_table_overlay_at(const struct mount_table *table,
                                                 const char *point);

/*
 * Returns the mount point, but for "/", that a path is or lies beneath: the longest. NULL if there
 * is none. The path is clean; no file system is asked, so symbolic links are not followed.
 */
const char *mount_table_over(const struct mount_table *table, const char *path);

/* Returns true if something is mounted beneath `path`, which is no symbolic link. */
bool mount_table_beneath(const struct mount_table *table, const char *path);

#endif
