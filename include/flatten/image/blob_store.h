/*
 * Where the blobs of an OCI image come from: the directory of a layout, an archive of one, a
 * registry. What is asked for has been parsed already: a digest is safe as part of a path or a URL.
 * A store only fetches; what it gives is not believed, and is parsed elsewhere, in a sandbox that
 * reaches the store through reader.h.
 */
#ifndef FLATTEN_BLOB_STORE_H
#define FLATTEN_BLOB_STORE_H

#include "base/buf.h"
#include "base/digest/sha256.h"
#include "flatten/image/image.h"

#include <stdbool.h>

enum blob_role { BLOB_MANIFEST /* or an index */, BLOB_CONFIG, BLOB_LAYER };

struct blob_request {
    enum blob_role role;
    struct digest digest;
    uint64_t size;          /* as the descriptor says: no store fetches more */
    const char *media_type; /* as the descriptor says; may be NULL */
};

/* Where a blob lies. fd is the receiver's. */
struct blob_place {
    int fd;
    off_t offset;
    uint64_t size;
};

struct blob_store;

struct blob_store_ops {
    /*
     * Opens blobs, all or none: a registry fetches them in parallel. The place's size may differ
     * from what was asked for; the caller checks it. *failed is the one that an error is about.
     */
    int (*open)(struct blob_store *s, const struct blob_request *requests, size_t count,
                struct blob_place *out, size_t *failed, struct err *err);
    /* Appends a file of a layout ("index.json"); NULL for a store that has none. */
    int (*read)(struct blob_store *s, const char *name, size_t limit, struct buf *out,
                struct err *err);
    void (*release)(struct blob_store *s); /* NULL for a store that somebody else owns */
};

struct blob_store {
    const struct blob_store_ops *ops;
    bool outline; /* set by who only wants to know what layers there are: none is opened */
};

/* For stores with no reason to open several at once: `one` for each. */
typedef int blob_open_one(struct blob_store *s, const struct blob_request *request,
                          struct blob_place *out, struct err *err);
int blob_open_each(struct blob_store *s, blob_open_one *one, const struct blob_request *requests,
                   size_t count, struct blob_place *out, size_t *failed, struct err *err);

/* "blobs/sha256/HEX", where a layout has a blob. */
enum { BLOB_PATH_SIZE = sizeof("blobs/sha256/") + DIGEST_SIZE };
void blob_path(const struct digest *digest, char out[BLOB_PATH_SIZE]);

/* The places of a layout's images in its index.json; the caller frees *places. */
int image_list_layout(struct blob_store *store, size_t **places, size_t *count,
                      struct err *err) must_check;

/* The image of a layout that `tag` and `platform` (both may be NULL) single out. */
struct image *image_open_layout(struct blob_store *store, const char *tag, const char *platform,
                                struct err *err) must_check;

/* The image that a descriptor leads to, through indexes. */
struct image *image_open_descriptor(struct blob_store *store, struct json *descriptor,
                                    const char *platform, struct err *err) must_check;

#endif
