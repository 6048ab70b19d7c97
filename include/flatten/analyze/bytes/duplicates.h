/*
 * Duplicates: the same content at several paths, in one image and across images; and compiled
 * Python files that no longer match their sources. Both need contents (contents.h): duplicates_want
 * says of which files. Pure.
 */
#ifndef FLATTEN_DUPLICATES_H
#define FLATTEN_DUPLICATES_H

#include "flatten/analyze/bytes/contents.h"

enum { DUPLICATE_WORST = 20, DUPLICATE_PATHS = 4, STALE_WORST = 20 };

struct duplicate_group {
    uint64_t size; /* of each */
    uint32_t copies;
    uint32_t layers;                 /* how many layers have a copy */
    uint32_t nodes[DUPLICATE_PATHS]; /* of the first copies */
};

struct duplicate_report {
    uint64_t groups, files;                        /* files: all but the first of each group */
    uint64_t bytes;                                /* of these files */
    struct duplicate_group worst[DUPLICATE_WORST]; /* most bytes to save first */
    size_t worst_count;
};

struct stale_report {
    uint64_t compiled;           /* .pyc files in __pycache__ */
    uint64_t stale, orphan;      /* header has another time or size; source is missing */
    uint64_t bytes;              /* of both */
    uint32_t worst[STALE_WORST]; /* nodes of the first stale ones */
    size_t worst_count;
};

/* The bytes of several images that are stored together. */
struct duplicate_shared {
    uint64_t payload;  /* of all files of all layers of all images */
    uint64_t by_layer; /* each layer (by diff_id) once, as registries and engines store them */
    uint64_t by_file;  /* each content once */
};

/* An image; all borrowed. */
struct duplicate_image {
    const struct layer_stack *stack;
    const struct image *image;
    struct contents *contents; /* as read by contents_read */
};

/*
 * Fills, by image, what is wanted of each file (contents.h), by inode; the caller frees each, also
 * after a failure. A file is read if another of any image has the same size.
 */
int duplicates_want(const struct duplicate_image *images, size_t count, uint8_t **wanted,
                    struct err *err) must_check;

/* Sums up one image. Its hashes are sorted in place (contents_sort). */
int duplicates_find(const struct duplicate_image *image, struct duplicate_report *out,
                    struct stale_report *stale, struct err *err) must_check;

/* Sums up all images. */
int duplicates_share(const struct duplicate_image *images, size_t count,
                     struct duplicate_shared *out, struct err *err) must_check;

#endif
