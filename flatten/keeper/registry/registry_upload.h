/*
 * Uploading a blob (distribution-spec, "Pushing blobs"). A small blob goes in one piece: POST, then
 * PUT. A large one goes in chunks (PATCH), because a proxy before the registry may refuse more
 * (413) or break the connection: then GET tells how much has arrived, and the rest follows in
 * smaller chunks. A registry that does not take chunks gets the blob in one piece.
 */
#ifndef FLATTEN_REGISTRY_UPLOAD_H
#define FLATTEN_REGISTRY_UPLOAD_H

#include "flatten/keeper/registry/registry_internal.h"

struct upload {
    struct registry *r;
    struct http *h;
    const struct digest *digest; /* borrowed; needed by upload_finish alone */
    const struct http_body *body;
    char *location; /* URL of the open upload; or NULL */
    bool unsure;    /* `sent` is not known */
    bool in_one;    /* the registry does not take chunks */
    uint64_t sent;  /* bytes that the registry has */
    uint64_t chunk;
    uint64_t least; /* the smallest chunk, except for the last */
    unsigned restarts;
};

/* Begins an upload, without a request. All but *out is borrowed. The caller calls upload_clear. */
void upload_init(struct registry *r, struct http *h, const struct http_body *body,
                 struct upload *out);

/*
 * Sends the next chunk of a body that may grow later, and has more than a chunk. Returns false for
 * any trouble: upload_finish goes on from there.
 */
bool upload_ahead(struct upload *u);

/* Uploads what is missing of the whole body. */
int upload_finish(struct upload *u, struct err *err) must_check;

/* Tells the registry to forget the open upload, if there is one, and clears it. Never fails. */
void upload_cancel(struct upload *u);

/* Frees what the upload holds. */
void upload_clear(struct upload *u);

#endif
