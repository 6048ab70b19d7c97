/* The depth of the images in the store of an engine. */
#ifndef SHIM_DOCTOR_IMAGES_H
#define SHIM_DOCTOR_IMAGES_H

#include "shim/admin/doctor/diagnosis/diagnosis.h"

/* Examines the depth of the images in the data-root of a Docker with overlay2. */
void images_examine_docker(const char *root, struct diagnoses *out);

/* Examines the depth of the images in the content store of containerd. */
void images_examine_containerd(const char *root, struct diagnoses *out);

/* Examines the depth of the images of podman, CRI-O or buildah in their graphroot. */
void images_examine_podman(const char *root, struct diagnoses *out);

#endif
