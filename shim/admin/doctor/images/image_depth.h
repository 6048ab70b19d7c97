/* The deepest image of a store. */
#ifndef SHIM_IMAGE_DEPTH_H
#define SHIM_IMAGE_DEPTH_H

#include "shim/admin/doctor/diagnosis/diagnosis.h"

#include <limits.h>

struct image_depth {
    size_t images, layers;
    char name[NAME_MAX + 1]; /* of the deepest, or its ID; cut if it is longer */
    const char *nameless;    /* where a name is found, for a store that has none; or NULL */
};

/* Counts an image. NULL name: the start of its ID stands for it. */
void image_depth_add(struct image_depth *d, const char *name, const char *id, size_t layers);

/* Says how deep the deepest is; nothing if there is no image. */
void image_depth_judge(const struct image_depth *d, const char *store, struct diagnoses *out);

#endif
