/* One request to the Docker daemon: from engine_api.c, for the other sources of its API. */
#ifndef FLATTEN_ENGINE_INTERNAL_H
#define FLATTEN_ENGINE_INTERNAL_H

#include "flatten/exchange/engine_reply.h"
#include "flatten/keeper/http/engine_api.h"
#include "flatten/keeper/http/http.h"

struct engine_request {
    struct engine *engine;
    const char *method; /* NULL: POST with `upload`, else GET */
    int (*take)(void *ctx, const char *data, size_t len, struct err *err); /* the body of a 200 */
    void *ctx;
    bool quick;                     /* the answer is small and comes soon */
    bool goes_on;                   /* signals do not end it; with `quick` */
    const struct http_body *upload; /* a tar archive; or NULL */
};

/*
 * Sends a request; `path` is what follows the address. *status is that of the response, or 0.
 * Any status but 200 is an error with the words of the daemon.
 */
int engine_send(struct engine_request *r, const char *path, long *status,
                struct err *err) must_check;

/* Uploads a tar archive, and reads the answer into *reply, which the caller clears. */
int engine_upload(struct engine *e, const char *path, const struct http_body *body,
                  struct engine_reply *reply, struct err *err) must_check;

/* Sends a quick request and parses its answer. The caller frees the document; NULL: an error. */
struct json_doc *engine_ask(struct engine_request *r, const char *path, long *status,
                            struct err *err) must_check;

#endif
