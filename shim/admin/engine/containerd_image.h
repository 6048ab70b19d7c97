/*
 * Images of containerd, and of Docker with containerd's store, asked of containerd by ctr(8). Their
 * layers are snapshots of overlayfs, named by chain IDs (image-spec, config.md#layer-chainid).
 */
#ifndef SHIM_CONTAINERD_IMAGE_H
#define SHIM_CONTAINERD_IMAGE_H

#include "base/digest/sha256.h"
#include "shim/admin/engine/engine_image.h"

/*
 * Looks for an image in all namespaces of the containerds of this host, and of that at the socket
 * `more` (NULL: none), by its name as given and as Docker completes it. Returns 1 if it is there, 0
 * if not. ERR_UNSUPPORTED if its layers are not unpacked.
 */
int containerd_image_find(const char *image, const char *more, struct arena *arena,
                          struct engine_image *out, struct err *err) must_check;

/* ---- the pure parts ---- */

/* Returns the name as Docker completes it ("docker.io/library/NAME:latest"), in the arena. */
const char *containerd_image_name(const char *image, struct arena *arena);

/* Sets the chain ID of all layers. ERR_FORMAT for a configuration that has none. */
int containerd_image_chain(const struct json *config, struct digest *out,
                           struct err *err) must_check;

#endif
