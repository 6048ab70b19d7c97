/*
 * The layers of an image that is to be carved, as pull_cost.h takes them: from the sizes of its
 * blobs. What is unpacked of each layer is not known to all callers, and is taken in proportion.
 */
#ifndef FLATTEN_PULL_IMAGE_H
#define FLATTEN_PULL_IMAGE_H

#include "flatten/carve/pull/pull_cost.h"
#include "flatten/image/image.h"

/* Returns true if all layers are compressed blobs: then the sizes are no estimates. */
bool pull_image_is_packed(const struct image *image);

/*
 * Returns the share of its unpacked bytes that a compressed layer takes: that of the image's layers
 * without the oldest `kept`, of `payload` bytes unpacked, at most 1; or PULL_ASSUMED_RATIO.
 */
double pull_image_share(const struct image *image, size_t kept, uint64_t payload);

/*
 * Fills out[0] to out[layer_count - 1]; `payload` is that of the layers without the oldest `kept`.
 * Returns false, and fills nothing, for an image that is read in an engine's store: it has no
 * blobs.
 */
bool pull_image_list(const struct image *image, size_t kept, uint64_t payload,
                     struct pull_layer *out);

#endif
