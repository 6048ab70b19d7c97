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

/*
 * Opens the store that has a blob and that dockerd uses: of a containerd that it has started, below
 * its own directory `docker_root`, or of the host's; dockerd does not say which. Only root may
 * write to the store. Sets *size, in bytes. Returns the directory, O_PATH, or -1 with the reason.
 */
int containerd_store_of_docker(const char *docker_root, const struct digest *blob, uint64_t *size,
                               struct err *err) must_check;

#endif
