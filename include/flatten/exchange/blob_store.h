/*
 * A store of the blobs of OCI images: the directory of a layout, an archive of one, a registry. A
 * request has been parsed already: its digest is safe as part of a path or a URL. A store only
 * fetches: the reader checks and parses what it gets. In the sandbox, a store asks the keeper
 * (reader_source).
 */
#ifndef FLATTEN_BLOB_STORE_H
#define FLATTEN_BLOB_STORE_H

#include "base/buf.h"
#include "base/digest/sha256.h"
#include "base/err.h"
#include "flatten/exchange/arrival.h"

#include <stdint.h>
#include <sys/types.h>

enum blob_role { BLOB_MANIFEST /* or an index */, BLOB_CONFIG, BLOB_LAYER };

struct blob_request {
    enum blob_role role;
    struct digest digest;
    uint64_t size;          /* as the descriptor says: no store fetches more */
    const char *media_type; /* as the descriptor says; may be NULL */
};

/* The place of a blob. The receiver owns fd, and the reference in `arriving`. */
struct blob_place {
    int fd;
    off_t offset;
    uint64_t size;
    struct arriving arriving; /* for a layer that comes from a registry */
};

/* The files of a layout beside its blobs (image-spec image-layout.md). */
enum oci_file { LAYOUT_OCI_LAYOUT, LAYOUT_INDEX_JSON };

/* Name and greatest size of each. */
extern const struct layout_file_rule {
    const char *name;
    size_t limit; /* bytes */
} layout_files[];

/* The content of oci-layout. */
#define OCI_LAYOUT_JSON "{\"imageLayoutVersion\":\"1.0.0\"}"

struct blob_store;

struct blob_store_ops {
    /* For blob_store_open: a store has one of the two. A registry fetches blobs in parallel, in the
     * order of the requests, and layers while the receiver reads them. */
    int (*open_all)(struct blob_store *s, const struct blob_request *requests, size_t count,
                    struct blob_place *out, size_t *failed, struct err *err);
    int (*open_one)(struct blob_store *s, const struct blob_request *request,
                    struct blob_place *out, struct err *err);
    /* Appends a file of a layout; NULL for a store that has none. */
    int (*read)(struct blob_store *s, enum oci_file file, struct buf *out, struct err *err);
    /* For blob_store_settle; NULL for a store that opens only what is there. */
    int (*settle)(struct blob_store *s, struct err *err);
    void (*release)(struct blob_store *s); /* NULL for a store that its user does not own */
};

struct blob_store {
    const struct blob_store_ops *ops;
};

/*
 * Opens blobs, all or none. A place's size may differ from its request's: the caller checks it.
 * After an error *failed is the number of the request that it is about; `count`: of none.
 */
int blob_store_open(struct blob_store *s, const struct blob_request *requests, size_t count,
                    struct blob_place *out, size_t *failed, struct err *err) must_check;

/* Waits until all blobs that were opened are there. -1 with the error of one that is not. */
int blob_store_settle(struct blob_store *s, struct err *err) must_check;

/* Closes a place, which then has no file. */
void blob_place_close(struct blob_place *place);

/* Closes the first `count` places after an error. */
void blob_places_close(struct blob_place *places, size_t count);

enum { BLOB_PATH_SIZE = sizeof("blobs/sha256/") + DIGEST_SIZE };

/* Writes "blobs/sha256/HEX", the path of a blob in a layout. */
void blob_path(const struct digest *digest, char out[BLOB_PATH_SIZE]);

#endif
