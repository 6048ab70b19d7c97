/*
 * Whether a tree may take the place of an overlay's layers, by looking at what is mounted.
 *
 * The layers' paths are what the engine named when it mounted; since then something else may have
 * come to be there (podman unmounts the folders through which it maps ids). So the root of the
 * overlay must show what the tree does: names, types, modes, owners, times.
 */
#ifndef SHIM_RESTACK_TRUST_H
#define SHIM_RESTACK_TRUST_H

#include "shim/mount/mount_table.h"
#include "shim/restack/cache/chain.h"

/* True if all that is in the tree's root, and is not the container's own, is at `point` as well. */
bool restack_shows(const char *point, const char *tree, const struct chain *chain);

/*
 * True if the overlay is seen anywhere else, in any process's mounts, but where an unmount reaches
 * it, too. Two overlays of one upper directory are undefined behaviour.
 */
bool restack_is_elsewhere(const struct mount_entry *mount);

/*
 * True if the upper directory holds little, and nothing that refers to layers below: what an engine
 * puts there before a container starts, or a container that hardly ran.
 */
bool restack_is_fresh(const struct chain *chain);

#endif
