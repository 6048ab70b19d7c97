/*
 * Merges directories as an overlay of them would show, without mounting one
 * (Documentation/filesystems/overlayfs.rst): whiteouts (devices 0:0), opaque directories, a file
 * that ends a directory and the other way round.
 *
 * Refused (ERR_UNSUPPORTED) are layers that say where else to look: redirected directories, files
 * of metadata alone, whiteouts by attribute.
 */
#ifndef SHIM_RESTACK_MERGE_H
#define SHIM_RESTACK_MERGE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge_layers {
    int fds[500]; /* directories, topmost first; owned by the caller */
    size_t count;
    bool users; /* the overlay's attributes are "user.overlay." */
};

/*
 * Is told of everything, each directory before what is in it; `path` is relative to each layer, "."
 * is the root, and `layer` the layer that shows. `leave` is the last call for a directory. A
 * callback that fails ends the merge.
 */
struct merge_sink {
    int (*enter)(void *context, const char *path, struct err *err);
    int (*file)(void *context, const char *path, const char *name, size_t layer, struct err *err);
    int (*leave)(void *context, const char *path, size_t layer, struct err *err);
};

struct merge_counts {
    uint64_t files, directories;
    uint64_t lookups; /* layers that a kernel without a cache looks into to find each file */
};

/* Merges the layers. `sink` may be NULL, for the counts alone. */
int restack_merge(const struct merge_layers *layers, const struct merge_sink *sink, void *context,
                  struct merge_counts *counts, struct err *err) must_check;

/* Returns the prefix of the attributes that an overlay does not show: "trusted.overlay." or
 * "user.overlay.". */
const char *merge_prefix(bool users);

/*
 * Prints "/proc/self/fd/FD/PATH/NAME", for calls that need a path; `name` may be NULL. ERR_LIMIT:
 * it is too long.
 */
int merge_path(int fd, const char *path, const char *name, char *out, size_t size,
               struct err *err) must_check;

#endif
