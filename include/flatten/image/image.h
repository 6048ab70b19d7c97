/*
 * An image as it lies at its source: configuration, manifest, and the place of each layer. Nothing
 * is unpacked; digests of layers are checked when the layers are read.
 */
#ifndef FLATTEN_IMAGE_H
#define FLATTEN_IMAGE_H

#include "base/buf.h"
#include "base/digest/sha256.h"
#include "base/json/json.h"
#include "flatten/exchange/arrival.h"
#include "flatten/stream/stream.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The default for the greatest size of an unpacked layer, in bytes: a bound for compression bombs.
 */
#define LAYER_MAX_SIZE ((uint64_t)256 << 30)

struct blob_store;
struct reference;

struct layer {
    unsigned number;          /* from 1, oldest first, as messages name it */
    struct digest diff_id;    /* of the tar archive; "" in an artefact, which has none */
    struct digest digest;     /* of the blob; "" if the source does not say (docker-archive) */
    int fd;                   /* owned: the file that holds the blob */
    off_t offset;             /* of the blob in the file */
    uint64_t size;            /* of the blob, bytes */
    struct arriving arriving; /* how much of the blob is in the file; owned */
    uint64_t max_size;        /* the greatest size of the unpacked archive, bytes; 0: no limit */
    struct unpack_budget *unpack; /* borrowed: of the image; NULL: no limit */
    _Atomic uint64_t *progress;   /* borrowed: grows as the blob is read; may be NULL */
    struct hasher *hasher;        /* borrowed: hashes the blob; NULL: each reader has its own */
    struct verifier *verifier;    /* borrowed: checks the blob instead of readers; or NULL */
    struct unpacker *unpacker;    /* borrowed: unpacks it ahead of its reader; or NULL */
    bool blob_is_tar; /* with a verifier: uncompressed, so that the check of the blob is enough */
    /* Borrowed: the store of a blob that is not opened yet (fd is -1; layer_fetch); else NULL */
    struct blob_store *store;
    const char *media_type; /* borrowed, of the manifest; may be NULL */
    /* Borrowed: of the image, if the layer is walked in an engine's store and has no blob; or NULL
     */
    struct image_tree *walk;
};

/* An image in an engine's store, walked by another process (wire_entry.h). */
struct image_tree {
    bool apart;                 /* each layer is walked by itself; else the tree that a container
                                   sees */
    int fd;                     /* owned: the socket of the walk */
    bool walking;               /* messages of a walk that was asked for are yet to be received */
    uint64_t size;              /* of the files in all layers, hidden ones included, bytes */
    _Atomic uint64_t *progress; /* borrowed: grows as content is read; may be NULL */
    /* Checks that the image was there until now: else the walk may have missed files. */
    int (*still)(void *ctx, size_t number, struct err *err);
    void *ctx; /* borrowed */
    size_t number;
};

struct image {
    struct json_doc *config;   /* image-spec config.md; NULL for an artefact */
    struct json_doc *manifest; /* image-spec manifest.md; NULL for a docker-archive */
    struct json_doc *index;    /* image-spec image-index.md: the index that led here; or NULL */
    uint64_t json_size;        /* size of these documents, bytes; 0: not known */
    struct digest digest;      /* of the manifest; "" without one */
    struct digest config_digest;
    char *name;    /* at the source, "name:tag"; or NULL */
    char **others; /* further names, in a docker-archive */
    size_t other_count;
    struct layer *layers;
    size_t layer_count;
    const struct reference *from; /* borrowed: of the source; may be NULL */
    struct image_tree *tree;      /* owned; its layers have no blobs then. NULL: of the layers */
    struct unpack_budget unpack;  /* of all layers */
};

/*
 * Makes an image of its configuration, which it takes in any case. The layers have numbers and
 * diff_ids, but no place. ERR_FORMAT for a config without rootfs.diff_ids.
 */
struct image *image_new(struct json_doc *config, struct err *err) must_check;
/* Frees the image and closes the files of its layers. */
void image_free(struct image *image);

DEFINE_CLEANUP(image, struct image, image_free)
#define _cleanup_image_ _cleanup_(cleanup_image)

/*
 * Opens the blob of a layer that image_choice.outline left closed. The store, which must still be
 * there, may have to fetch it: all of it is there afterwards.
 */
int layer_fetch(struct layer *layer, struct err *err) must_check;

/* Closes the files of the layers; all else stays known. */
void image_close_layers(struct image *image);

/*
 * Checks that the config does not name another platform than `platform`; NULL, a digest and
 * PLATFORM_ANY are no platform. ERR_USAGE.
 */
int image_check_platform(const struct image *image, const char *platform,
                         struct err *err) must_check;

/*
 * Checks, after reading, that an image in an engine's store was there all the time: files of a
 * removed one vanish one by one. Waits for the layers of an image in a registry that are still
 * arriving: the keeper checks those that nobody reads to the end, too. Any other image passes.
 */
int image_check_still(const struct image *image, struct err *err) must_check;

/*
 * Replaces *err, with which reading failed, by its cause, if a layer did not arrive from its
 * registry: then returns true. If *err is about content, waits for the layers that are still
 * arriving, so that the message does not depend on timing.
 */
bool image_explain(const struct image *image, struct err *err);

/* True if a descriptor in an index is of an image: not of an attestation and the like. */
bool image_is_platform(const struct json *descriptor);

/* Returns the memory that the documents of the image take, in bytes. */
size_t image_memory(const struct image *image);

#endif
