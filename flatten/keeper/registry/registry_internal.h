/* What the parts of registry.h share. */
#ifndef FLATTEN_REGISTRY_INTERNAL_H
#define FLATTEN_REGISTRY_INTERNAL_H

#include "flatten/keeper/registry/registry.h"
#include "flatten/keeper/registry/registry_auth.h"

struct registry {
    struct registry_ref ref;
    struct registry_options options;
    struct registry_auth *auth;
    struct certificates certificates;
    char *mount_from;
    char *base;    /* "https://HOST[:PORT]" */
    bool answered; /* it is there: when nobody listens, that may pass */
    atomic_bool stop;
    uint64_t chunk; /* that uploads turned out to be fit for; 0: not known, UINT64_MAX: none */
};

/* True for a status that another time may not have. */
bool registry_may_pass(long status);

/* registry_request, or registry_exchange where the caller repeats more than this. */
typedef int registry_send(struct registry *r, struct http *h, const struct http_request *request,
                          struct http_reply *reply, struct err *err);

/* Opens an upload. `query`: "" or what follows the URL. */
int registry_open_upload(struct registry *r, struct http *h, const char *query, registry_send *send,
                         struct http_reply *reply, struct err *err) must_check;

/* Where an upload is to go on, which is at `from` (NULL: just opened). The caller frees it. */
char *registry_upload_url(struct registry *r, const char *from, const struct http_reply *reply,
                          struct err *err) must_check;

/* HEAD of a blob. */
int registry_ask_blob(struct registry *r, struct http *h, const struct digest *digest,
                      struct http_reply *reply, struct err *err) must_check;

#endif
