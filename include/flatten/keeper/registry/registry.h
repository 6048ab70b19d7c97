/*
 * One repository of a registry (opencontainers/distribution-spec), with authorization. Nothing of
 * an image's content is parsed.
 *
 * HTTPS is verified against the certificates of the system, or SSL_CERT_FILE and SSL_CERT_DIR, and
 * those for this registry (certificates.h). A client certificate goes where credentials go. Plain
 * HTTP is spoken only to a server without HTTPS, and only if that is a loopback host, or with the
 * option `insecure`, which also accepts certificates that cannot be verified (--tls-verify=false of
 * skopeo). Credentials go only to the registry and to the token server that it names. A registry
 * leads to addresses of this host or its link only from there (http_reach.h).
 *
 * Threads share a struct registry; each has a struct http of its own.
 */
#ifndef FLATTEN_REGISTRY_H
#define FLATTEN_REGISTRY_H

#include "base/digest/sha256.h"
#include "base/json/json.h"
#include "flatten/keeper/http/http.h"
#include "flatten/name/reference.h"
#include "flatten/name/registry_ref.h"

struct registry;

/*
 * Opens the repository `name`, as behind docker://: finds out whether the server speaks HTTPS and
 * is a registry. `actions` is "pull" or "pull,push". `options` is copied; its texts are borrowed.
 */
struct registry *registry_open(const char *name, const struct registry_options *options,
                               const char *actions, struct err *err) must_check;
/* Frees it; no thread may use it any more. */
void registry_free(struct registry *r);

DEFINE_CLEANUP(registry, struct registry, registry_free)
#define _cleanup_registry_ _cleanup_(cleanup_registry)

/* Returns the parsed name, borrowed. */
const struct registry_ref *registry_ref(const struct registry *r);

/* Returns the option mount_from, borrowed; or NULL. */
const char *registry_mount_from(const struct registry *r);

/*
 * Makes a client for one thread, which must not outlive the registry. Its requests fail once *stop,
 * borrowed, is true; `stop` may be NULL.
 */
struct http *registry_http(struct registry *r, const atomic_bool *stop, struct err *err) must_check;

/*
 * Returns the URL of "/v2/NAME/" and the formatted rest, for the caller to free; NULL without
 * memory.
 */
char *registry_url(const struct registry *r, const char *format, ...)
    __attribute__((format(printf, 2, 3))) must_check;

/*
 * Makes one request, as http_perform: with authorization, again after a 401 that a token can help,
 * and through redirects of GET and HEAD.
 */
int registry_exchange(struct registry *r, struct http *h, const struct http_request *request,
                      struct http_reply *reply, struct err *err) must_check;

/* The same, retried as registry_retry says. `begin` and `take` get each body from its start. */
int registry_request(struct registry *r, struct http *h, const struct http_request *request,
                     struct http_reply *reply, struct err *err) must_check;

/*
 * Decides after an exchange that returned `rc`. Returns 1, after a wait, if it is to be made again;
 * 0 if the reply stands; -1 if the error stands, after a signal, or if `h` is stopped. Failures
 * that may pass are retried: a broken connection, 408, 429, 500, 502 to 504; after Retry-After,
 * else after 0.5 s, 1 s, 2 s … 30 s, each with jitter. *tries counts; *reply is cleared for the
 * next.
 */
int registry_retry(struct registry *r, const struct http *h, unsigned *tries, int rc,
                   struct http_reply *reply, struct err *err) must_check;

/*
 * Returns the URL that a Location in the reply from `url` leads to, for the caller to free.
 * ERR_SYSTEM from https to http without the option `insecure`.
 */
char *registry_follow(const struct registry *r, const char *url, const char *location,
                      struct err *err) must_check;

/*
 * Sets an error from a reply that is no success, with the words of the registry (distribution-spec,
 * errors[]). Returns -1.
 */
int registry_refused(const struct registry *r, const struct http_reply *reply, struct err *err);

/* ---- blobs ---- */

struct blob_request;

struct arrival;

/* Blobs to fetch, not 0, each to its offset in the file. All borrowed. */
struct registry_blobs {
    const struct blob_request *list;
    const off_t *offsets;
    size_t count;
    int fd;
};

struct registry_pull;

/*
 * Starts threads that fetch blobs in parallel, in their order, and check their sizes and digests.
 * They tell `arrival` (arrival.h), which may be NULL, of the bytes that have come and of the first
 * error. A blob's bytes are written once, and never replaced. The registry must outlive the pull;
 * the caller may go on using it in one other thread.
 */
struct registry_pull *registry_pull_start(struct registry *r, const struct registry_blobs *blobs,
                                          struct arrival *arrival, struct err *err) must_check;

/*
 * Waits for the end. Returns 0 if all blobs are there and right; or -1 with the first error, which
 * names its blob. May be called again.
 */
int registry_pull_wait(struct registry_pull *p, struct err *err) must_check;

/* Ends the pull, also if it is not done, and frees it. */
void registry_pull_free(struct registry_pull *p);

DEFINE_CLEANUP(registry_pull, struct registry_pull, registry_pull_free)
#define _cleanup_registry_pull_ _cleanup_(cleanup_registry_pull)

/*
 * Returns 1 if the repository has the blob, or could mount it from options->mount_from; 0 if not;
 * or -1.
 */
int registry_has_blob(struct registry *r, struct http *h, const struct digest *digest,
                      struct err *err) must_check;

/* Uploads a blob, unless registry_has_blob. `body` is borrowed. */
int registry_push_blob(struct registry *r, struct http *h, const struct digest *digest,
                       const struct http_body *body, struct err *err) must_check;

enum { REGISTRY_MOST_UPLOADS = 4 }; /* side by side */

struct registry_uploads;

/*
 * Makes a place for uploads of several blobs side by side, each while its file grows. The registry,
 * borrowed, may be used in one other thread meanwhile.
 */
struct registry_uploads *registry_uploads_new(struct registry *r, struct err *err) must_check;

/*
 * Begins a blob, whose bytes are in the file from offset 0 on: a thread uploads them in chunks
 * while they are written. The file is borrowed. Waits while REGISTRY_MOST_UPLOADS blobs are on
 * their way, of which one at least has ended, and fails if one has failed.
 */
int registry_uploads_begin(struct registry_uploads *u, int fd, struct err *err) must_check;

/*
 * Ends the first of the blobs that were begun and not ended: its file is complete. The rest is
 * uploaded, unless registry_has_blob, while the caller goes on.
 */
void registry_uploads_end(struct registry_uploads *u, const struct digest *digest, uint64_t size);

/* Gives up the first of the blobs that were begun and not ended. */
void registry_uploads_drop(struct registry_uploads *u);

/*
 * Waits until all blobs are there; each has ended or was given up. -1 with the error of the first
 * that failed.
 */
int registry_uploads_wait(struct registry_uploads *u, struct err *err) must_check;

/* Ends the threads, cancels what is not complete, and frees it. */
void registry_uploads_free(struct registry_uploads *u);

DEFINE_CLEANUP(registry_uploads, struct registry_uploads, registry_uploads_free)
#define _cleanup_registry_uploads_ _cleanup_(cleanup_registry_uploads)

/* Starts an upload and cancels it. Returns -1 if the registry refuses it. */
int registry_push_probe(struct registry *r, struct http *h, struct err *err) must_check;

/* Puts a manifest under a tag, or its digest. All that it names has been uploaded before. */
int registry_push_manifest(struct registry *r, struct http *h, const char *version,
                           const char *media_type, const struct digest *digest,
                           const struct http_body *body, struct err *err) must_check;

#endif
