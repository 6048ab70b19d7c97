/*
 * A registry (opencontainers/distribution-spec): one repository of one server, with what it takes
 * to be let in. Nothing of an image's content is parsed here.
 *
 * HTTPS, verified against the system's certificates or SSL_CERT_FILE and SSL_CERT_DIR, and those
 * that are for this registry (certificates.h). A client certificate is shown where credentials go.
 * Plain HTTP is spoken where HTTPS is not, and only with a loopback host or the option `insecure`,
 * which also takes certificates that cannot be verified (skopeo's --tls-verify=false). Credentials
 * go to nobody but the registry and the token server that it names.
 *
 * A struct registry is shared between threads; each has a struct http of its own.
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
 * Finds out how the server of `name` (what follows docker://) wants to be spoken to. `actions` is
 * what the repository is to be opened for: "pull" or "pull,push".
 */
struct registry *registry_open(const char *name, const struct registry_options *options,
                               const char *actions, struct err *err) must_check;
void registry_free(struct registry *r);

DEFINE_CLEANUP(registry, struct registry, registry_free)
#define _cleanup_registry_ _cleanup_(cleanup_registry)

const struct registry_ref *registry_ref(const struct registry *r);

/* The option; NULL for none. */
const char *registry_mount_from(const struct registry *r);

/* Connections to it, for one thread. */
struct http *registry_http(struct registry *r, struct err *err) must_check;

/* Makes the transfers of all threads end: one has failed, and the others need not go on. */
void registry_stop(struct registry *r);

/* The URL "/v2/NAME/" and what follows, formatted. The caller frees it; NULL without memory. */
char *registry_url(const struct registry *r, const char *format, ...)
    __attribute__((format(printf, 2, 3))) must_check;

/*
 * One request, as http_perform: with authorization where it is due, once more after a 401 that a
 * token can help, and through redirects of GET and HEAD. The request's own headers are `headers`.
 */
int registry_exchange(struct registry *r, struct http *h, const struct http_request *request,
                      struct http_reply *reply, struct err *err) must_check;

/*
 * The same, repeated as registry_retry has it. For requests that can be: `take` is given the body
 * from its start each time, after `begin`.
 */
int registry_request(struct registry *r, struct http *h, const struct http_request *request,
                     struct http_reply *reply, struct err *err) must_check;

/*
 * After an exchange that returned `rc`: 1 if it is to be done again, and it is time to; 0 if the
 * reply stands; -1 if it does not (the error stands, or a signal came). Repeated are what may pass:
 * a connection that broke, 408, 429 and 5xx; as Retry-After says, else after 0.5 s, 1 s, 2 s … 30
 * s, each with jitter. *tries counts; *reply is cleared for the next.
 */
int registry_retry(struct registry *r, unsigned *tries, int rc, struct http_reply *reply,
                   struct err *err) must_check;

/*
 * Where a Location that came from `url` leads, for a redirect or an upload; the caller frees it.
 * From https to http it leads only with the option `insecure`.
 */
char *registry_follow(const struct registry *r, const char *url, const char *location,
                      struct err *err) must_check;

/* An error from a reply that is not a success, with the registry's own words (spec: errors[]). */
int registry_refused(const struct registry *r, const struct http_reply *reply, struct err *err);

/* ---- blobs ---- */

struct blob_request;

/*
 * Fetches blobs in parallel into fd, each at its offset. Their sizes and digests have been checked
 * when this returns 0; *failed is the one that an error is about.
 */
int registry_pull_blobs(struct registry *r, const struct blob_request *blobs, const off_t *offsets,
                        size_t count, int fd, size_t *failed, struct err *err) must_check;

/*
 * 1 if the repository has the blob, or could take it over from the repository options->mount_from;
 * 0 if not.
 */
int registry_has_blob(struct registry *r, struct http *h, const struct digest *digest,
                      struct err *err) must_check;

/* Uploads a blob, unless registry_has_blob. */
int registry_push_blob(struct registry *r, struct http *h, const struct digest *digest,
                       const struct http_body *body, struct err *err) must_check;

/* Starts an upload and takes it back: -1 if the registry would not have it. */
int registry_push_probe(struct registry *r, struct http *h, struct err *err) must_check;

/* Puts a manifest under a tag, or its digest: all that it names is there by then. */
int registry_push_manifest(struct registry *r, struct http *h, const char *version,
                           const char *media_type, const struct digest *digest,
                           const struct http_body *body, struct err *err) must_check;

#endif
