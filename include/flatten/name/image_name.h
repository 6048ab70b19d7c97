/*
 * Names of images as Docker reads them (distribution/reference): [HOST/]PATH[:TAG][@DIGEST], where
 * a missing tag means "latest" and a missing host Docker Hub.
 */
#ifndef FLATTEN_IMAGE_NAME_H
#define FLATTEN_IMAGE_NAME_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * True for a name that a layout may have as a tag (image-spec annotations.md,
 * org.opencontainers.image.ref.name): parts of letters, digits and '-', '.', '_', ':', '@' or '+'
 * between them, separated by '/'. Several separators in a row are accepted.
 */
bool image_name_fits_layout(const char *name);

/* True for [HOST[:PORT]/]PATH[:TAG], as engines take it from an archive. */
bool image_name_fits_engine(const char *name);

/* Returns the tag, which points into the name; NULL if there is none. A digest is not a tag. */
const char *image_name_tag(const char *name) must_check;

/* True if the name always means the same image: an ID (whole, or 12 digits and more) or a digest.
 */
bool image_name_is_fixed(const char *name) must_check;

/* Parses "@N", with which skopeo selects one image of several. *out counts from 0. */
bool image_name_place(const char *name, size_t *out) must_check;

/* Returns the name with its tag, or with ":latest". The caller frees it; NULL without memory. */
char *image_name_tagged(const char *name, struct err *err) must_check;

/*
 * Returns the name with its tag, or with ":latest", and with the host "localhost" if it has none,
 * as podman names what it builds. The caller frees it; NULL after an error.
 */
char *image_name_local(const char *name, struct err *err) must_check;

/* Returns it in full, as in "docker.io/library/NAME:TAG", the form that containerd stores. */
char *image_name_full(const char *name, struct err *err) must_check;

#endif
