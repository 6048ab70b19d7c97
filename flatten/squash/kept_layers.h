/*
 * Layers that stay as they are. Their blobs are copied byte for byte, so that hosts and registries
 * that have them need not fetch them again.
 */
#ifndef FLATTEN_KEPT_LAYERS_H
#define FLATTEN_KEPT_LAYERS_H

#include "flatten/exchange/sink.h"
#include "flatten/image/image.h"

/*
 * Describes the layer's blob. If the source does not give its digest, the blob is read to compute
 * it. tar_size stays 0.
 */
int kept_layer_describe(const struct layer *layer, struct written_layer *out,
                        struct err *err) must_check;

/*
 * Copies the layer's blob, unless the destination has it. Digests are not checked here, but when
 * the layer's headers are read; a layer that is not open is fetched and checked. *fd, which becomes
 * the caller's, and *offset: where the copy is, or the original if none was made. `fd` may be NULL.
 */
int kept_layer_copy(struct layer *layer, const struct written_layer *as, struct sink *sink, int *fd,
                    off_t *offset, struct err *err) must_check;

#endif
