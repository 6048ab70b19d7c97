/*
 * Opens the layers of a chain and a directory of the cache so that files can be linked from one to
 * the other: link(2) does not link from one mount to another, even of the same file system, and
 * engines mount their store upon itself. So both are reached through one more mount of the file
 * system, which has no mount point and is gone with its descriptor (open_tree(2), Linux 5.2).
 */
#ifndef SHIM_RESTACK_LAYERS_H
#define SHIM_RESTACK_LAYERS_H

#include "shim/restack/build/restack_merge.h"
#include "shim/restack/cache/chain.h"

#define MERGE_LAYERS_INIT                                                                          \
    {                                                                                              \
        .count = 0                                                                                 \
    }

/*
 * Opens the layers, topmost first, and `path`, a clean absolute one, as *directory; the caller
 * closes both. ERR_UNSUPPORTED: they are not on one file system, or no mount shows all of them.
 */
int restack_layers_open(const struct chain *chain, const char *path, struct arena *arena,
                        struct merge_layers *out, int *directory, struct err *err) must_check;

/* Closes the layers. */
void restack_layers_close(struct merge_layers *layers);

#define _cleanup_merge_layers_ _cleanup_(restack_layers_close)

#endif
