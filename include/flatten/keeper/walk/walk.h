/*
 * Walks the tree that a container of an image would see: overlayfs merges the directories of the
 * image's layers, as the engine has them, and a process of its own lists the mount and opens its
 * files for the reader (wire_entry.h). Or it walks each layer by itself, on request.
 *
 * The process has a mount namespace of its own, so nobody else sees the mount and nobody has to
 * unmount it. Its root directory is the mount, or one that has nothing but the layers, mounted
 * read-only. It holds no other file than its socket, and its only capabilities are those for
 * reading any file and any extended attribute in there. It ends when all copies of the other end of
 * its socket are closed, and when the keeper ends.
 *
 * The walk has no root directory, which an engine makes itself; no sockets, which tar cannot hold;
 * and no security.selinux, which is the host's. A mount hides overlayfs's own attributes and
 * whiteouts, a layer by itself shows them. Entries come in the order of their names.
 */
#ifndef FLATTEN_WALK_H
#define FLATTEN_WALK_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The directories of the layers. */
struct walk_layers {
    const char *store; /* that holds all layers: absolute; may be a symbolic link */
    const char *const *
        names; /* of the layers, relative to the store, newest first: no symbolic link on the way */
    size_t count;
    bool apart; /* each layer is walked by itself */
};

/*
 * Starts the process and waits until it has the mount. Returns its socket, which is for the reader;
 * or -1, with the reason why these layers cannot be read in place: they are not there, this process
 * may not mount, the store is not owned by root or others may write to it.
 */
int walk_start(const struct walk_layers *layers, struct err *err) must_check;

/*
 * Waits for a request on the socket and walks the working directory, in this process: "." itself
 * comes first. Returns 0 also when the other end of the socket is closed.
 */
int walk_here(int socket, struct err *err) must_check;

#endif
