/*
 * HTTP and HTTPS requests through libcurl, one at a time, on connections that are kept: for the
 * Docker daemon's socket and for registries. No redirect is followed and nothing is retried.
 * Headers and the body of a refusal are bounded; the body of a success goes to the caller piece by
 * piece. Ctrl-C ends a request.
 *
 * A struct http is for one thread at a time.
 */
#ifndef FLATTEN_HTTP_H
#define FLATTEN_HTTP_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "flatten/keeper/http/certificates.h"
#include "flatten/keeper/http/http_reach.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct http;

struct http_options {
    const char *socket; /* path of a Unix socket; NULL for TCP; must outlive the struct http */
    bool tls;           /* https:// is permitted; certificates are verified */
    bool insecure;      /* certificates are not verified */
    bool proxy;         /* proxies of the environment are used (libcurl-env(3)) */
    struct http_reach *reach; /* borrowed: where the client may connect; NULL: everywhere */
    const struct certificates *certificates; /* borrowed: beside those of the system; may be NULL */
    const atomic_bool *stop; /* borrowed: requests fail once it is true; may be NULL */
};

/* Makes a client, which connects at its first request. `options` is copied. */
struct http *http_new(const struct http_options *options, struct err *err) must_check;
/* Returns true once the option `stop` is. */
bool http_stopped(const struct http *h);
/* Closes the connections. */
void http_free(struct http *h);

DEFINE_CLEANUP(http, struct http, http_free)
#define _cleanup_http_ _cleanup_(cleanup_http)

/* A body to send: `size` bytes of memory or of a file, or of any size from `read`. Borrowed. */
struct http_body {
    const char *data; /* NULL: the body is in fd, from `offset` on */
    int fd;
    off_t offset;
    uint64_t size;
    /* Returns how many bytes of `data` it filled, of at most `room`; 0 at the end; or -1. */
    ssize_t (*read)(void *ctx, char *data, size_t room, struct err *err); /* may be NULL */
    void *ctx;
};

struct http_reply {
    long status;        /* 0: no response */
    struct buf headers; /* of the last response; see http_header */
    struct buf refusal; /* the first 64 KiB of the body, unless the status is 2xx */
    enum http_failure {
        HTTP_DONE,
        HTTP_GAVE_UP,        /* a callback, a limit or a signal ended it */
        HTTP_NO_CONNECT,     /* name not found, or nobody answers; sys may hold errno */
        HTTP_NOT_TLS,        /* the server does not speak TLS */
        HTTP_UNKNOWN_CLIENT, /* the server wants a client certificate, or another one */
        HTTP_BROKEN,         /* the connection broke: another try may work */
        HTTP_FAILED,         /* anything else, such as a certificate that is not trusted */
    } failure;
    int sys;
};

#define _cleanup_http_reply_ _cleanup_(http_reply_clear)
/* Frees headers and refusal. */
void http_reply_clear(struct http_reply *reply);

struct http_request {
    const char *method; /* GET, HEAD, POST, PATCH, PUT, DELETE */
    const char *url;
    const char *const *headers;   /* lines "Name: value", NULL-terminated; may be NULL */
    const struct http_body *body; /* NULL: none */
    bool identify;                /* show the client certificate, if there is one */
    bool loopback_only;           /* with `reach`: connect to addresses of this host alone */
    unsigned timeout_seconds;     /* for the whole request; 0: no limit */
    unsigned stall_seconds;       /* fail after so long below 1000 bytes/s; 0: no limit */
    bool goes_on;                 /* signals do not end it: it cleans up, with a timeout */
    /* Takes the body of a 2xx. `begin` (may be NULL) sees the headers before the first byte. */
    int (*begin)(void *ctx, const struct http_reply *reply, struct err *err);
    int (*take)(void *ctx, const char *data, size_t len, struct err *err);
    void *ctx;
};

/*
 * Makes a request. Returns 0 with a response of any status; -1 without one, or with a part of one:
 * reply->failure says which. The caller clears *reply in both cases.
 */
int http_perform(struct http *h, const struct http_request *request, struct http_reply *reply,
                 struct err *err) must_check;

/*
 * Keeps a body in memory: http_text_begin and http_text_take are `begin` and `take` of a request,
 * with the struct as `ctx`.
 */
struct http_text {
    struct buf text; /* owned by the caller; emptied by http_text_begin */
    size_t limit;    /* bytes; more is ERR_LIMIT */
};

/* Empties the text. */
int http_text_begin(void *ctx, const struct http_reply *reply, struct err *err);
/* Appends to the text, up to the limit. */
int http_text_take(void *ctx, const char *data, size_t len, struct err *err);

/*
 * Appends the CAs that are trusted without any option, as PEM: those in SSL_CERT_FILE, or of the
 * system.
 */
int http_put_authorities(struct buf *out, struct err *err) must_check;

/* Returns the value of the nth (from 0) header of that name, *len bytes without a NUL; or NULL. */
const char *http_header(const struct http_reply *reply, const char *name, size_t nth, size_t *len);

/*
 * Copies the value of the first header of that name; *out is NULL without one. The caller frees it.
 */
int http_header_copy(const struct http_reply *reply, const char *name, char **out,
                     struct err *err) must_check;

/* ---- URLs ---- */

/*
 * libcurl's URL parser decides in all of these, because libcurl makes the connection.
 *
 * Resolves `location` against `base` (RFC 3986, 5.2); without a base (NULL) it must be complete.
 * The caller frees the URL, which is http or https, in libcurl's own writing. ERR_FORMAT for other
 * schemes, for a user or password in it, and for a host that is not ASCII.
 */
char *http_url_join(const char *base, const char *location, struct err *err) must_check;

/* Returns the host of a URL without brackets, for the caller to free; NULL if it has none. */
char *http_url_host(const char *url);

/* True for https, in a URL from http_url_join. */
bool http_url_is_tls(const char *url);

/* True if both have the same scheme, host and port: a secret for one may be sent to the other. */
bool http_same_origin(const char *a, const char *b);

/* Appends text in which all bytes are escaped but letters, digits and "-._~" (RFC 3986, 2.3). */
void http_put_escaped(struct buf *out, const char *text);

#endif
