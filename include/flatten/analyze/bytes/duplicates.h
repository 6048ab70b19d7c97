/*
 * The same content at several paths, in one image and across images; and compiled Python that its
 * source has outrun. Both need contents (contents.h): duplicates_want says of which files. Pure.
 */
#ifndef FLATTEN_DUPLICATES_H
#define FLATTEN_DUPLICATES_H

#include "flatten/analyze/bytes/contents.h"

enum { DUPLICATE_WORST = 20, DUPLICATE_PATHS = 4, STALE_WORST = 20 };

struct duplicate_group {
    uint64_t size; /* of each */
    uint32_t copies;
    uint32_t layers;                 /* different ones among those that brought them */
    uint32_t nodes[DUPLICATE_PATHS]; /* the first of them */
};

struct duplicate_report {
    uint64_t groups, files;                        /* files beyond the first of each group */
    uint64_t bytes;                                /* of those files */
    struct duplicate_group worst[DUPLICATE_WORST]; /* most bytes to save first */
    size_t worst_count;
};

struct stale_report {
    uint64_t compiled;           /* .pyc files in __pycache__ */
    uint64_t stale, orphan;      /* whose header names another time or size; whose source is gone */
    uint64_t bytes;              /* of both */
    uint32_t worst[STALE_WORST]; /* the first that are stale */
    size_t worst_count;
};

/* Bytes of several images if they were stored together. */
struct duplicate_shared {
    uint64_t payload;  /* of all files of all layers of all images */
    uint64_t by_layer; /* each layer (by diff_id) once, as registries and engines store them */
    uint64_t by_file;  /* each content once */
};

/* An image as far as it counts here. */
struct duplicate_image {
    const struct layer_stack *stack;
    const struct image *image;
    struct contents *contents; /* what was read of what was wanted */
};

/*
 * By image: what is wanted of each file (contents.h), by inode; the caller frees each. Files that
 * alone have their size, over all images, are no duplicates of anything.
 */
int duplicates_want(const struct duplicate_image *images, size_t count, uint8_t **wanted,
                    struct err *err) must_check;

/* Sums up one image. Sorts its hashes (contents_sort). */
int duplicates_find(const struct duplicate_image *image, struct duplicate_report *out,
                    struct stale_report *stale, struct err *err) must_check;

/* Sums up all images. */
int duplicates_share(const struct duplicate_image *images, size_t count,
                     struct duplicate_shared *out, struct err *err) must_check;

#endif
