/* The directory in which an engine keeps images and containers. */
#ifndef SHIM_STORE_H
#define SHIM_STORE_H

#include "shim/admin/doctor/diagnosis.h"

/* Examines a store. One that is not there is left out, unless somebody asked for it. */
void store_examine(const char *path, bool asked, struct diagnoses *out);

/* Returns false for a path that does not answer in five seconds, which is a diagnosis. */
bool store_answers(const char *path, struct diagnoses *out);

/* Examines the depth of the images in the data-root of a Docker with overlay2. */
void images_examine_docker(const char *root, struct diagnoses *out);

/* Examines the depth of the images of podman, CRI-O or buildah in their graphroot. */
void images_examine_podman(const char *root, struct diagnoses *out);

#endif
