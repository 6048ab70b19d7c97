/*
 * Carving several images together: what several of them have is in layers that they share, byte for
 * byte (layout_family.h). Each image is read once, one after the other, all into one temporary
 * file; then the layers are written, each once.
 */
#ifndef FLATTEN_FAMILY_H
#define FLATTEN_FAMILY_H

#include "flatten/carve/carve.h"

struct family;

/* Returns a family without images; `carve` is borrowed. The caller frees it with family_free. */
struct family *family_new(const struct carve_options *carve, struct err *err) must_check;

/* Frees it. The images stay. */
void family_free(struct family *f);

DEFINE_CLEANUP(family, struct family, family_free)
#define _cleanup_family_ _cleanup_(cleanup_family)

/*
 * Reads an image: its layers may be closed then, and all their digests have been checked. The image
 * is borrowed. ERR_LIMIT for more than LAYOUT_MOST_IMAGES.
 */
int family_add(struct family *f, struct image *image, const struct squash_options *options,
               struct err *err) must_check;

/*
 * Lays all images out, and writes the layers through the sink; with NULL nothing is written. Of the
 * options, merged.max_size, compress and readable count.
 */
int family_write(struct family *f, const struct squash_options *options, struct sink *sink,
                 struct err *err) must_check;

/*
 * Sets *out and *carved to one image, by the order of family_add: once for each, after
 * family_write. The caller clears them with squashed_clear and carved_clear, also after a failure.
 */
int family_take(struct family *f, size_t which, const struct squash_options *options,
                struct squashed *out, struct carved *carved, struct err *err) must_check;

#endif
