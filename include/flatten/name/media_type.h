/*
 * The media types of image-spec media-types.md that Flatbed writes, and Docker's (distribution
 * manifest-v2-2.md) that it reads from registries.
 */
#ifndef FLATTEN_MEDIA_TYPE_H
#define FLATTEN_MEDIA_TYPE_H

#define MEDIA_TYPE_INDEX      "application/vnd.oci.image.index.v1+json"
#define MEDIA_TYPE_MANIFEST   "application/vnd.oci.image.manifest.v1+json"
#define MEDIA_TYPE_CONFIG     "application/vnd.oci.image.config.v1+json"
#define MEDIA_TYPE_LAYER      "application/vnd.oci.image.layer.v1.tar"
#define MEDIA_TYPE_LAYER_GZIP "application/vnd.oci.image.layer.v1.tar+gzip"
#define MEDIA_TYPE_LAYER_ZSTD "application/vnd.oci.image.layer.v1.tar+zstd"

#define MEDIA_TYPE_DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define MEDIA_TYPE_DOCKER_LIST     "application/vnd.docker.distribution.manifest.list.v2+json"

#endif
