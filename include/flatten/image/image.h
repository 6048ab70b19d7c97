/*
 * An image as it lies at its source: configuration, manifest, and where each layer's bytes are.
 * Nothing is unpacked and nothing is believed: digests are checked when layers are read.
 */
#ifndef FLATTEN_IMAGE_H
#define FLATTEN_IMAGE_H

#include "base/buf.h"
#include "base/digest/sha256.h"
#include "base/json/json.h"
#include "flatten/stream/stream.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a layer may unpack to unless the user says otherwise: a bound for compression bombs. */
#define LAYER_MAX_SIZE ((uint64_t)256 << 30)

struct layer {
    unsigned number;       /* from 1, oldest first, as messages name it */
    struct digest diff_id; /* of the tar archive */
    struct digest digest;  /* of the blob; "" where the source does not say (docker-archive) */
    int fd;                /* owned: the file that holds the blob */
    off_t offset;          /* of the blob in it */
    uint64_t size;         /* of the blob, bytes */
    uint64_t max_size;     /* the most bytes that its archive may have, unpacked; 0: no limit */
    _Atomic uint64_t *progress; /* borrowed: grows as the blob is read; may be NULL */
    struct hasher *hasher;      /* borrowed: hashes what is read; NULL: each reader has its own */
    struct verifier *verifier;  /* borrowed: checks the blob, so that readers need not; or NULL */
    bool blob_is_tar; /* with a verifier: the layer lies uncompressed, and that is all there is to
                         check */
};

struct image {
    struct json_doc *config;   /* image-spec config.md */
    struct json_doc *manifest; /* image-spec manifest.md; NULL for a docker-archive */
    struct json_doc *index;    /* image-spec image-index.md: what it was chosen from; or NULL */
    uint64_t json_size;        /* bytes of these where they lie; 0: not told */
    struct digest digest;      /* of the manifest; "" without one */
    struct digest config_digest;
    char *name;    /* what the source calls it, "name:tag"; or NULL */
    char **others; /* further names of it, in a docker-archive */
    size_t other_count;
    struct layer *layers;
    size_t layer_count;
};

/*
 * Makes an image of its configuration, which it takes in any case: with the layers in
 * rootfs.diff_ids, which lie nowhere yet.
 */
struct image *image_new(struct json_doc *config, struct err *err) must_check;
void image_free(struct image *image);

DEFINE_CLEANUP(image, struct image, image_free)
#define _cleanup_image_ _cleanup_(cleanup_image)

/* Closes the layers' files: what the image is stays known. */
void image_close_layers(struct image *image);

/* An error where the config says another platform than the one that was named. */
int image_check_platform(const struct image *image, const char *platform,
                         struct err *err) must_check;

/* True for a descriptor of an index that is an image: no attestation and the like. */
bool image_is_platform(const struct json *descriptor);

/* What the blob's first bytes say. */
int layer_compression(const struct layer *layer, enum compression *kind,
                      struct err *err) must_check;

/* The layer's blob, checked against its digest where one is known. */
struct stream *layer_blob(const struct layer *layer, struct err *err) must_check;

/* The layer's tar archive: decompressed, checked against its diff_id, bounded by max_size. */
struct stream *layer_tar(const struct layer *layer, struct err *err) must_check;

/* The same without checking digests: for measuring, or where a verifier does. Where nothing is
 * compressed, it can skip. */
struct stream *layer_tar_unchecked(const struct layer *layer, enum compression *kind,
                                   struct err *err) must_check;

/* What the documents of an image take. */
size_t image_memory(const struct image *image);

#endif
