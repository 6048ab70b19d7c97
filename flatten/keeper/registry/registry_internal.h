/* A registry, for the sources of this room. */
#ifndef FLATTEN_REGISTRY_INTERNAL_H
#define FLATTEN_REGISTRY_INTERNAL_H

#include "flatten/keeper/http/http_reach.h"
#include "flatten/keeper/registry/registry.h"
#include "flatten/keeper/registry/registry_auth.h"

struct registry {
    struct registry_ref ref;
    struct registry_options options;
    struct registry_auth *auth;
    struct certificates certificates;
    char *mount_from;
    char *base; /* "https://HOST[:PORT]" */
    struct http_reach reach;
    bool answered; /* the server has answered: a refused connection may pass */
    /* bytes, as uploads have settled on; 0: not known, UINT64_MAX: no chunks */
    _Atomic uint64_t chunk;
};

/* True for a status that may pass: 408, 429, 500, 502 to 504. */
bool registry_may_pass(long status);

/* registry_request; or registry_exchange, for a caller that retries more than this request. */
typedef int registry_send(struct registry *r, struct http *h, const struct http_request *request,
                          struct http_reply *reply, struct err *err);

/* Opens an upload. `query` is "" or goes behind the URL. */
int registry_open_upload(struct registry *r, struct http *h, const char *query, registry_send *send,
                         struct http_reply *reply, struct err *err) must_check;

/*
 * Returns the URL for the next request of an upload, for the caller to free. `from`: the URL of the
 * reply's request; NULL: the upload was just opened.
 */
char *registry_upload_url(struct registry *r, const char *from, const struct http_reply *reply,
                          struct err *err) must_check;

/* Asks for a blob with HEAD: status 200 or 404. */
int registry_ask_blob(struct registry *r, struct http *h, const struct digest *digest,
                      struct http_reply *reply, struct err *err) must_check;

#endif
