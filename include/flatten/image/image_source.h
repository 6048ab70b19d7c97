/*
 * Reads images out of a source that the keeper has found (source.h): the half of opening an image
 * that parses, and so runs in the sandbox.
 */
#ifndef FLATTEN_IMAGE_SOURCE_H
#define FLATTEN_IMAGE_SOURCE_H

#include "flatten/exchange/source.h"
#include "flatten/image/image.h"

/* The choice of an image of a source, and of how much of it. */
struct image_choice {
    const size_t *place;  /* among several, from source_places; NULL: as the reference names it */
    const char *platform; /* "os/arch[/variant]", the digest of a manifest, or PLATFORM_ANY;
                             NULL: the only one of an index, or this machine's */
    bool outline;         /* no layer is fetched from a layout or a registry: each has digest and
                             size, and no file */
    bool artifact;        /* also one that is no image: its config is not read, and its layers,
                             which must be tar archives, have no diff_ids */
    bool oldest_first;    /* the layers will be read oldest first; else newest first */
};

#define PLATFORM_ANY "*" /* the first of an index */

/*
 * Lists the places of the images of an archive or a layout, in order: what "@N" names. *places is
 * the caller's to free. ERR_USAGE for other sources.
 */
int source_places(struct source *s, size_t **places, size_t *count, struct err *err) must_check;

/*
 * Reads an image out of the source. It may be called several times: the first copies an archive
 * that can be read only once into a temporary file.
 */
struct image *source_image(struct source *s, const struct image_choice *choice,
                           struct err *err) must_check;

#endif
