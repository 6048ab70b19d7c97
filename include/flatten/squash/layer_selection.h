/*
 * Which layers of an image are merged: a number of the newest; the older ones stay as they are.
 */
#ifndef FLATTEN_LAYER_SELECTION_H
#define FLATTEN_LAYER_SELECTION_H

#include "flatten/image/image.h"
#include "flatten/name/reference.h"

#include <stdbool.h>

/* What --keep-base and --last ask for. */
struct layer_selection {
    const char *base; /* the image whose layers are kept; or NULL */
    uint64_t kept;    /* layers to keep; without `base` and `has_last` */
    uint64_t last;    /* layers to merge; with `has_last` */
    bool has_last;
};

/* From the options' texts, either of which may be NULL. A number is a count, a word an image. */
int layer_selection_parse(const char *keep_base, const char *last, struct layer_selection *out,
                          struct err *err) must_check;

/*
 * How many of the image's oldest layers stay as they are. Pure; `base` is the image that s->base
 * names, or NULL.
 */
int layer_selection_resolve(const struct layer_selection *s, const struct image *image,
                            const struct image *base, size_t *kept, struct err *err) must_check;

/*
 * How many of their oldest layers two images share, by diff_id, and by digest where both sources
 * know it.
 */
size_t layer_selection_shared(const struct image *image, const struct image *base);

/*
 * Parts the layers from `kept` on into `into` groups of neighbours, of about the same size. ends[i]
 * is the number of layers up to the end of group i. Returns how many groups there are: no more than
 * layers.
 */
size_t layer_selection_groups(const struct image *image, size_t kept, size_t into, size_t *ends);

#endif
