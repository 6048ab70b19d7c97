/* The directory in which an engine keeps images and containers. */
#ifndef SHIM_STORE_H
#define SHIM_STORE_H

#include "shim/admin/doctor/diagnosis.h"

/* Examines a store. One that is not there is left out, unless somebody asked for it. */
void store_examine(const char *path, bool asked, struct diagnoses *out);

/* Examines the depth of the images in the data-root of a Docker with overlay2. */
void images_examine(const char *docker_root, struct diagnoses *out);

#endif
