/* Selects the layers of an image to merge: a number of the newest. The older ones are kept. */
#ifndef FLATTEN_LAYER_SELECTION_H
#define FLATTEN_LAYER_SELECTION_H

#include "flatten/image/image.h"
#include "flatten/name/reference.h"

#include <stdbool.h>

/* The options --keep-base and --last. */
struct layer_selection {
    const char *base; /* the image whose layers are kept; or NULL */
    uint64_t kept;    /* layers to keep; without `base` and `has_last` */
    uint64_t last;    /* layers to merge; with `has_last` */
    bool has_last;
};

/* Parses the options, of which one or both are NULL. keep_base is a number or an image's reference.
 */
int layer_selection_parse(const char *keep_base, const char *last, struct layer_selection *out,
                          struct err *err) must_check;

/*
 * Decides how many of the image's oldest layers are kept. `base`: the image that s->base names, or
 * NULL. ERR_USAGE if the image has too few layers, or shares none with `base`. Pure.
 */
int layer_selection_resolve(const struct layer_selection *s, const struct image *image,
                            const struct image *base, size_t *kept, struct err *err) must_check;

/*
 * Returns how many of their oldest layers two images share: by diff_id, and by digest if both
 * sources know it.
 */
size_t layer_selection_shared(const struct image *image, const struct image *base);

/*
 * Divides the layers from `kept` on into up to `into` groups of neighbours of about the same size.
 * ends[i]: the number of layers up to the end of group i. Returns how many groups there are, at
 * most one for each layer.
 */
size_t layer_selection_groups(const struct image *image, size_t kept, size_t into, size_t *ends);

#endif
