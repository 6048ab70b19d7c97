/*
 * Finds out whether a tree may take the place of an overlay's layers, by looking at what is
 * mounted.
 *
 * The paths of the layers are those that the engine named when it mounted; since then they may show
 * something else (podman unmounts the directories through which it maps ids). So the root of the
 * overlay must show what the tree does: names, types, modes, owners, times.
 */
#ifndef SHIM_RESTACK_TRUST_H
#define SHIM_RESTACK_TRUST_H

#include "shim/mount/mount_table.h"
#include "shim/restack/cache/chain.h"

/*
 * Returns true if all entries of the tree's root are at `point` as well, but for those that the
 * container's own layers hide.
 */
bool restack_shows(const char *point, const char *tree, const struct chain *chain);

/*
 * Returns true if the overlay is mounted anywhere else, in any process's mount namespace, where an
 * unmount would not reach it, too: two overlays of one upper directory are undefined behaviour.
 */
bool restack_is_elsewhere(const struct mount_entry *mount);

/*
 * Returns true if the upper directory holds few entries, and nothing that refers to layers below:
 * the work of an engine before a container starts, or of a container that hardly ran.
 */
bool restack_is_fresh(const struct chain *chain);

#endif
