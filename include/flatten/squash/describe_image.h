/*
 * The config and manifest of a squashed image. The config is edited without loss: only rootfs,
 * history and, if asked for, created change (image-spec config.md).
 */
#ifndef FLATTEN_CONFIG_H
#define FLATTEN_CONFIG_H

#include "base/buf.h"
#include "flatten/exchange/written_layer.h"
#include "flatten/image/image.h"

/* The layers of the new image, oldest first; the first `kept` are the oldest of the source. */
struct new_layers {
    const struct written_layer *list;
    const size_t *merged; /* of each new one: how many layers of the source are in it */
    size_t count, kept;
};

/*
 * Edits image->config in place for the given layers, and appends its text. History is kept: entries
 * of layers that were merged are marked empty_layer, and one entry a new layer is added, so that
 * those that are not empty equal the layers. `created` (RFC 3339) replaces the image's own; NULL
 * keeps it.
 */
int config_squash(struct image *image, const struct new_layers *layers, const char *created,
                  struct buf *out, struct err *err) must_check;

/*
 * Appends an OCI manifest. Annotations of the source's manifest stay, as do its descriptors of kept
 * layers; the digest that the image had at its source is added as dev.flatbed.source.digest.
 */
int manifest_make(const struct image *image, const struct digest *config, size_t config_size,
                  const struct new_layers *layers, struct buf *out, struct err *err) must_check;

#endif
