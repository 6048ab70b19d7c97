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

/* The tag in the name; NULL if it has none. A digest is not a tag. */
const char *image_name_tag(const char *name) must_check;

/* True for what names one image for ever: an ID, whole or its first 12 digits, or a digest. */
bool image_name_is_fixed(const char *name) must_check;

/* "@N", as skopeo has it: which image of several, from 0. */
bool image_name_place(const char *name, size_t *out) must_check;

/* The name with a tag, ":latest" where it had none. The caller frees it; NULL without memory. */
char *image_name_tagged(const char *name, struct err *err) must_check;

/* The same in full, "docker.io/library/NAME:TAG", as containerd stores it. */
char *image_name_full(const char *name, struct err *err) must_check;

#endif
