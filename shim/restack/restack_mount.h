/*
 * Replaces an overlay that an engine mounted by one with the same upper and work directory and
 * other lower layers. The old one is unmounted first: two at once are undefined behaviour, and the
 * engine's umount must find one mount there. Only an overlay that is unused in every mount
 * namespace is replaced; if the new one cannot be mounted, the old one is mounted again.
 */
#ifndef SHIM_RESTACK_MOUNT_H
#define SHIM_RESTACK_MOUNT_H

#include "shim/gather/rootfs.h"
#include "shim/restack/cache/chain.h"

/* Sets *why to the reason why it may not be replaced, in the arena; NULL: it may. -1 without
 * memory. */
int restack_mount_check(const struct rootfs_facts *root, struct arena *arena, const char **why,
                        struct err *err) must_check;

/*
 * Mounts the root with `tree` in the place of the chain. Returns 1 if that is done; 0 if not, and
 * the engine's overlay is mounted as before: *why says why (in the arena). -1: nothing is mounted
 * there any more, or there was no memory before anything was done.
 */
int restack_mount(const struct rootfs_facts *root, const struct chain *chain, const char *tree,
                  struct arena *arena, const char **why, struct err *err) must_check;

#endif
