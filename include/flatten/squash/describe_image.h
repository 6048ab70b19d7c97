/*
 * Makes the config and the manifest of a squashed image. The config is edited without loss: only
 * rootfs, history and, if asked for, created change (image-spec config.md).
 */
#ifndef FLATTEN_DESCRIBE_IMAGE_H
#define FLATTEN_DESCRIBE_IMAGE_H

#include "base/buf.h"
#include "flatten/exchange/written_layer.h"
#include "flatten/image/image.h"

/* The history's words about a layer. Borrowed. */
struct layer_note {
    const char *created_by, *comment;
};

/* The layers of the new image, oldest first; the first `kept` are the oldest of the source. */
struct new_layers {
    const struct written_layer *list;
    const struct layer_note *notes; /* by layer; those of the kept layers are not used */
    size_t count, kept;
    const char *inventory; /* of the layers (inventory.h); or NULL */
};

/* The annotation of the manifest that has the inventory of carved layers. */
#define ANNOTATION_INVENTORY "dev.flatbed.carve.inventory"

/*
 * Edits image->config in place for the given layers, and appends its text. History is kept: entries
 * of merged layers are marked empty_layer, and an entry is added for each new layer, so that there
 * are as many non-empty entries as layers. `created` (RFC 3339) replaces that of the image; NULL
 * keeps it.
 */
int config_squash(struct image *image, const struct new_layers *layers, const char *created,
                  struct buf *out, struct err *err) must_check;

/*
 * Appends an OCI manifest. It keeps the annotations of the source's manifest, and its descriptors
 * of kept layers. The annotation dev.flatbed.source.digest has the image's digest at its source,
 * and ANNOTATION_INVENTORY the inventory, if there is one.
 */
int manifest_make(const struct image *image, const struct digest *config, size_t config_size,
                  const struct new_layers *layers, struct buf *out, struct err *err) must_check;

#endif
