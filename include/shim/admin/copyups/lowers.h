/*
 * The layers below an upper directory, each as an open directory, at the place that is looked at:
 * names are looked up in there, never by a path from the root (Linux,
 * Documentation/filesystems/overlayfs.rst, "Merged directories", "whiteouts and opaque
 * directories").
 */
#ifndef SHIM_LOWERS_H
#define SHIM_LOWERS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct lower {
    int fd;       /* of the directory in that layer */
    size_t layer; /* the index of the layer, topmost first */
};

struct lowers {
    struct lower *list; /* owned, with the descriptors; topmost first */
    size_t count;
};

/* The attributes of overlayfs: in "trusted.overlay.", or "user.overlay." of mounts by users. */
enum overlay_mark { MARK_OPAQUE, MARK_ORIGIN, MARK_IMPURE, MARK_REDIRECT, MARK_METACOPY, MARKS };

/* Reads an attribute of an open file. Returns its length, 0 if it has none. */
size_t overlay_mark_of(int fd, bool users, enum overlay_mark mark, char *value, size_t size);

/* Returns true if the entry of the directory, which may be a link, has the attribute. */
bool overlay_mark_at(int dirfd, const char *name, bool users, enum overlay_mark mark);

/* Returns true for what hides a name of the layers below: a character device 0:0. */
bool overlay_whiteout(const struct stat *st);

/*
 * Looks a name up. Returns true if a layer shows it: *st is its state, *layer the index of the
 * layer.
 */
bool lowers_find(const struct lowers *lowers, const char *name, struct stat *st, size_t *layer);

/*
 * Opens the directories of that name that are merged. An empty list is no error: no layer shows
 * one. Sets *limited if the process has no more descriptors.
 */
int lowers_enter(const struct lowers *lowers, const char *name, bool users, struct lowers *out,
                 bool *limited, struct err *err) must_check;

/* As lowers_enter, for a path of several names. */
int lowers_enter_path(const struct lowers *lowers, const char *path, bool users, struct lowers *out,
                      bool *limited, struct err *err) must_check;

/* Closes the directories. */
void lowers_close(struct lowers *lowers);

#define _cleanup_lowers_ _cleanup_(lowers_close)

#endif
