/*
 * Choosing from an index of images (image-spec image-index.md), by tag and by platform. Pure.
 *
 * `platform` is "os/arch[/variant]", a manifest's digest, PLATFORM_ANY for the first image, or NULL
 * for the only one, or this machine's.
 */
#ifndef FLATTEN_IMAGE_INDEX_H
#define FLATTEN_IMAGE_INDEX_H

#include "base/err.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

/* True for an index, false for a manifest. `descriptor` is of `doc`, which may be NULL. */
bool index_is_index(const struct json *descriptor, const struct json *doc);

/* True if `platform` is one, not NULL, a digest or PLATFORM_ANY. */
bool index_names_platform(const char *platform);

/* Returns how many descriptors of the index are images. */
size_t index_count_images(struct json *index);

/* Returns the tag of a descriptor (org.opencontainers.image.ref.name), or NULL. */
const char *index_tag(const struct json *descriptor);

/*
 * Returns the one descriptor of an image with that tag (NULL: any) and that platform; NULL with
 * ERR_USAGE if there is none, or more than one.
 */
struct json *index_choose(struct json *index, const char *tag, const char *platform,
                          struct err *err) must_check;

/*
 * The same for an index that a manifest or another index led to. An index that holds one index and
 * no more stands for that one, whatever the platform.
 */
struct json *index_choose_below(struct json *index, const char *platform,
                                struct err *err) must_check;

#endif
