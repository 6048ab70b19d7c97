/*
 * The content store of containerd: blobs in files, ROOT/io.containerd.content.v1.content/
 * blobs/sha256/HEX (docs/content-flow.md of containerd). Which image has which blob is in
 * containerd's own database alone, and so are the directories of its snapshots.
 */
#ifndef FLATTEN_CONTAINERD_STORE_H
#define FLATTEN_CONTAINERD_STORE_H

#include "base/digest/sha256.h"
#include "base/err.h"

#include <stdint.h>

/* The root of the host's containerd. */
#define CONTAINERD_ROOT "/var/lib/containerd"

/* The same of one that dockerd starts, below its own directory. */
#define CONTAINERD_OF_DOCKER "containerd/daemon"

/*
 * Opens the store of a root, which only root may write to. Returns the directory, O_PATH, or -1
 * with the reason: it may not be there.
 */
int containerd_store_open(const char *root, struct err *err) must_check;

/* Sets *size, in bytes; -1 with the reason if the store does not have the blob. */
int containerd_store_find(int store, const struct digest *blob, uint64_t *size,
                          struct err *err) must_check;

#endif
