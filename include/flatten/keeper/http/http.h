/*
 * HTTP and HTTPS requests, one at a time on connections that are kept (libcurl): for the Docker
 * daemon's socket and for registries. No redirect is followed and nothing is retried here. Headers
 * and what a refusal says are bounded; a body goes to the caller as it comes. A Ctrl-C ends it.
 *
 * A struct http is for one thread at a time.
 */
#ifndef FLATTEN_HTTP_H
#define FLATTEN_HTTP_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "flatten/keeper/http/certificates.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct http;

struct http_options {
    const char *socket; /* path of a Unix socket; NULL for TCP; must outlive the struct http */
    bool tls;           /* https:// as well; certificates are verified */
    bool insecure;      /* or not */
    bool proxy;         /* the environment's proxies are used (libcurl-env(3)) */
    const struct certificates *certificates; /* beside the system's; may be NULL; borrowed */
    const atomic_bool *stop;                 /* fail once it is true; may be NULL */
};

struct http *http_new(const struct http_options *options, struct err *err) must_check;
void http_free(struct http *h);

DEFINE_CLEANUP(http, struct http, http_free)
#define _cleanup_http_ _cleanup_(cleanup_http)

/* What is sent: `size` bytes of memory, or of a file. */
struct http_body {
    const char *data; /* NULL: of fd, from offset */
    int fd;
    off_t offset;
    uint64_t size;
};

struct http_reply {
    long status;        /* 0: none came */
    struct buf headers; /* of the last response; see http_header */
    struct buf refusal; /* the start of a body that is not a success's */
    enum http_failure {
        HTTP_DONE,
        HTTP_GAVE_UP,        /* a callback, a limit or a signal */
        HTTP_NO_CONNECT,     /* name not found, nobody listens or answers; sys may hold errno */
        HTTP_NOT_TLS,        /* https was asked of what does not speak it */
        HTTP_UNKNOWN_CLIENT, /* it wants a client certificate, or another one */
        HTTP_BROKEN,         /* the connection failed on the way: may work another time */
        HTTP_FAILED,         /* anything else, such as a certificate that is not trusted */
    } failure;
    int sys;
};

#define _cleanup_http_reply_ _cleanup_(http_reply_clear)
void http_reply_clear(struct http_reply *reply);

struct http_request {
    const char *method; /* GET, HEAD, POST, PATCH, PUT, DELETE */
    const char *url;
    const char *const *headers;   /* lines "Name: value", NULL-terminated; may be NULL */
    const struct http_body *body; /* NULL: none */
    bool identify;                /* show the client certificate, if there is one */
    unsigned timeout_seconds;     /* for all of it; 0: as long as it takes */
    unsigned stall_seconds;       /* fail when under 1000 bytes/s for so long; 0: wait */
    /* The body of a 2xx; before its first byte, `begin` (may be NULL) looks at the headers. */
    int (*begin)(void *ctx, const struct http_reply *reply, struct err *err);
    int (*take)(void *ctx, const char *data, size_t len, struct err *err);
    void *ctx;
};

/*
 * 0: there is a response, of any status. -1: there is none, or not all of it; reply->failure says
 * which. The caller clears *reply in both cases.
 */
int http_perform(struct http *h, const struct http_request *request, struct http_reply *reply,
                 struct err *err) must_check;

/* A body as text in memory: http_text_begin and http_text_take are a request's `begin` and `take`.
 */
struct http_text {
    struct buf text; /* owned by the caller; emptied by http_text_begin */
    size_t limit;    /* bytes; more is ERR_LIMIT */
};
int http_text_begin(void *ctx, const struct http_reply *reply, struct err *err);
int http_text_take(void *ctx, const char *data, size_t len, struct err *err);

/* Appends the CAs that count anyway, in PEM form: SSL_CERT_FILE's, or the system's. */
int http_put_authorities(struct buf *out, struct err *err) must_check;

/* The value of the nth (from 0) header of that name, not NUL-terminated; NULL if there is none. */
const char *http_header(const struct http_reply *reply, const char *name, size_t nth, size_t *len);

/* The same as a string; *out stays NULL without such a header. The caller frees it. */
int http_header_copy(const struct http_reply *reply, const char *name, char **out,
                     struct err *err) must_check;

/* ---- URLs ---- */

/* What `location` means as seen from `base` (RFC 3986, 5.2): http or https. The caller frees it. */
char *http_url_join(const char *base, const char *location, struct err *err) must_check;

/* True if both have the same scheme, host and port: what is secret for one may go to the other. */
bool http_same_origin(const char *a, const char *b);

/* Appends text with everything escaped but letters, digits and "-._~" (RFC 3986, 2.3). */
void http_put_escaped(struct buf *out, const char *text);

#endif
