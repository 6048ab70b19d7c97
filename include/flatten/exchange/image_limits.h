/* Bounds for an image, which both sides of the sandbox check. */
#ifndef FLATTEN_IMAGE_LIMITS_H
#define FLATTEN_IMAGE_LIMITS_H

enum {
    IMAGE_JSON_LIMIT = 8 * 1024 * 1024, /* bytes of one configuration, manifest or index */
};

#endif
