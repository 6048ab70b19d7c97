/*
 * A chain: the lower layers of an overlay as directories that exist, and a record by which the same
 * layers are recognised: each directory's path, inode, birth and last change (statx(2)), topmost
 * first. A layer that was removed and made anew at the same path is another one; so is one to whose
 * root an entry was added. Device numbers are left out: they change when a host starts.
 *
 * Docker puts a layer of its own for each container between the upper directory and the image
 * (ID-init, with mount points): it is not part of the chain, which containers of an image share.
 */
#ifndef SHIM_CHAIN_H
#define SHIM_CHAIN_H

#include "shim/mount/layers.h"

#include <stdint.h>

enum { CHAIN_KEY = 33 }; /* hex digits and NUL */

struct chain {
    const char **paths; /* clean and absolute, without symbolic links; topmost first */
    size_t count;
    bool users;         /* layers.h */
    const char *own;    /* the path of the layer that Docker adds for the container; NULL: none */
    const char *upper;  /* of the upper directory; NULL for a chain that was made from paths */
    const char *base;   /* the directory that relative layers start from; NULL: none are relative */
    const char *record; /* one line a layer, by which the chain is recognised */
    char key[CHAIN_KEY]; /* a hash of the record, for names of files */
};

/*
 * Finds the directories of the overlay that is mounted at `point`. Engines with many layers name
 * them relative to a directory that the kernel does not show: it is looked for beside `point` and
 * the upper directory. ERR_UNSUPPORTED: they cannot be found. Everything is in the arena.
 */
int chain_find(const struct layers *layers, const char *point, struct arena *arena,
               struct chain *out, struct err *err) must_check;

/* Makes a chain of these directories, topmost first. ERR_USAGE: no directories. */
int chain_of_paths(const char *const *paths, size_t count, bool users, struct arena *arena,
                   struct chain *out, struct err *err) must_check;

/*
 * Makes the record of the directories as they are now, in the arena: equal to the chain's as long
 * as they are the same layers.
 */
int chain_describe(const struct chain *chain, struct arena *arena, const char **record,
                   struct err *err) must_check;

/* Reads a record: fills in paths, users, record (borrowed) and key. ERR_FORMAT: it is none. */
int chain_parse(const char *record, struct arena *arena, struct chain *out,
                struct err *err) must_check;

/* Writes the key of a record: equal records have equal keys, on each boot. */
void chain_key(const char *record, char out[CHAIN_KEY]);

#endif
