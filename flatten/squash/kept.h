/*
 * Layers that stay as they are: their blobs go from source to destination byte for byte, so that
 * hosts and registries that have them need not take them again.
 */
#ifndef FLATTEN_KEPT_H
#define FLATTEN_KEPT_H

#include "flatten/exchange/sink.h"
#include "flatten/image/image.h"

/*
 * What is known of the layer's blob; where the source does not give its digest, it is read for it.
 * tar_size is left 0.
 */
int kept_describe(const struct layer *layer, struct written_layer *out, struct err *err) must_check;

/*
 * Copies the layer's blob, unless the destination has it. Digests are not checked here: they have
 * been, or will be, when the layer's headers are read. *fd, which becomes the caller's, and *offset
 * say where the copy lies, or the original without one; with fd NULL nobody wants to know.
 */
int kept_copy(const struct layer *layer, const struct written_layer *as, struct sink *sink, int *fd,
              off_t *offset, struct err *err) must_check;

#endif
