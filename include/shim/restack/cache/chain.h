/*
 * The lower layers of an overlay as directories that exist, and by what the same layers are known
 * again: each directory's path, inode, birth and last change (statx(2)), topmost first. A layer
 * that was removed and came anew, at the same path, is another one; so is one to whose root an
 * entry was added. Device numbers are left out: they change when a host starts.
 *
 * Docker puts a layer of each container's own between the upper directory and the image (ID-init,
 * with mount points): it is not part of the chain, which containers of an image share.
 */
#ifndef SHIM_CHAIN_H
#define SHIM_CHAIN_H

#include "shim/mount/layers.h"

#include <stdint.h>

enum { CHAIN_KEY = 33 }; /* hex digits and NUL */

struct chain {
    const char **paths; /* clean and absolute, without symlinks; topmost first */
    size_t count;
    bool users;          /* layers.h */
    const char *own;     /* the path of the container's own layer; NULL: it has none */
    const char *upper;   /* likewise; NULL for a chain that was made from paths */
    const char *base;    /* what relative layers are relative to; NULL: none are */
    const char *record;  /* one line a layer: what the chain is known by */
    char key[CHAIN_KEY]; /* short for the record; two records could have one, though none will */
};

/*
 * Finds the directories of the overlay that is mounted at `point`. Engines with many layers name
 * them from a folder that nobody tells: it is looked for beside `point` and the upper directory.
 * ERR_UNSUPPORTED: they cannot be found. Everything is in the arena.
 */
int chain_find(const struct layers *layers, const char *point, struct arena *arena,
               struct chain *out, struct err *err) must_check;

/* The same of directories, topmost first, which are a whole chain. */
int chain_of_paths(const char *const *paths, size_t count, bool users, struct arena *arena,
                   struct chain *out, struct err *err) must_check;

/* The record of those directories as they are now: equal as long as they are the same layers. */
int chain_describe(const struct chain *chain, struct arena *arena, const char **record,
                   struct err *err) must_check;

/* What chain_describe wrote, read again: paths, users, record and key. ERR_FORMAT: it is none. */
int chain_parse(const char *record, struct arena *arena, struct chain *out,
                struct err *err) must_check;

#endif
