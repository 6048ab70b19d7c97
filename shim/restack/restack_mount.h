/*
 * Puts an overlay of the same upper and work directory, and of other lower layers, in the place of
 * one that an engine mounted: unmounted first, as two of them at once are undefined behaviour, and
 * as the engine's own umount must find one mount there. Only an overlay that nobody uses, in any
 * mount namespace, is replaced; if the new one cannot be mounted, the old one is again.
 */
#ifndef SHIM_RESTACK_MOUNT_H
#define SHIM_RESTACK_MOUNT_H

#include "shim/gather/rootfs.h"
#include "shim/restack/cache/chain.h"

/* Why it may not be replaced, in the arena; NULL: it may. -1 without memory. */
int restack_mount_check(const struct rootfs_facts *root, struct arena *arena, const char **why,
                        struct err *err) must_check;

/*
 * `tree` takes the place of the chain. 1: done. 0: not done, *why says so (in the arena), and what
 * was mounted is. -1: nothing is mounted there any more, or no memory before anything was done.
 */
int restack_mount(const struct rootfs_facts *root, const struct chain *chain, const char *tree,
                  struct arena *arena, const char **why, struct err *err) must_check;

#endif
