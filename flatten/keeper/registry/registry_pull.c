#include "flatten/keeper/registry/registry.h"

#include "base/fdio.h"
#include "flatten/exchange/blob_store.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

enum {
    WORKERS = 4,
    PROGRESS = 1024 * 1024, /* bytes after which failures are forgotten */
};

/* ---- one blob ---- */

struct download {
    const struct blob_request *blob;
    int fd;
    off_t offset;
    uint64_t have; /* bytes written and hashed */
    struct sha256 *hash;
};

static int start_afresh(struct download *d, struct err *err)
{
    struct digest unused;

    d->have = 0;
    return sha256_finish(d->hash, &unused, err);
}

/* True if Content-Range is "bytes FROM-TO/SIZE" (RFC 9110, 14.4) with the missing part. */
static bool continues(const struct download *d, const struct http_reply *reply)
{
    char expected[96];
    size_t len;
    const char *range = http_header(reply, "Content-Range", 0, &len);
    int prefix = snprintf(expected, sizeof(expected), "bytes %" PRIu64 "-%" PRIu64 "/", d->have,
                          d->blob->size - 1);

    return range && len > (size_t)prefix && strncasecmp(range, expected, (size_t)prefix) == 0;
}

static int begin_body(void *ctx, const struct http_reply *reply, struct err *err)
{
    struct download *d = ctx;

    if (reply->status == 206 && d->have > 0)
        return continues(d, reply)
                   ? 0
                   : err_set(err, ERR_FORMAT, "the registry resumes at another place than asked");
    if (reply->status != 200)
        return err_set(err, ERR_FORMAT, "the registry answers with HTTP status %ld", reply->status);
    return start_afresh(d, err);
}

static int take_body(void *ctx, const char *data, size_t len, struct err *err)
{
    struct download *d = ctx;

    if (len > d->blob->size - d->have)
        return err_set(err, ERR_DIGEST,
                       "the registry sends more than the %" PRIu64 " bytes that the manifest says",
                       d->blob->size);
    if (fd_pwrite_all(d->fd, data, len, d->offset + (off_t)d->have, err) < 0)
        return err_wrap(err, "temporary file (set TMPDIR)");
    d->have += len;
    return sha256_update(d->hash, data, len, err);
}

static int check_download(struct download *d, struct err *err)
{
    struct digest actual;

    if (d->have != d->blob->size)
        return err_set(err, ERR_DIGEST,
                       "the registry has %" PRIu64 " bytes, not %" PRIu64 " as the manifest says",
                       d->have, d->blob->size);
    if (sha256_finish(d->hash, &actual, err) < 0)
        return -1;
    if (!digest_equal(&actual, &d->blob->digest))
        return err_set(err, ERR_DIGEST, "the registry's content is %s", actual.text);
    return 0;
}

/* Requests the part that is missing. */
static int fetch_rest(struct registry *r, struct http *h, struct download *d, const char *url,
                      struct http_reply *reply, struct err *err)
{
    char range[64];
    const char *const headers[] = {"Accept: */*", d->have > 0 ? range : NULL, NULL};
    const struct http_request request = {.method = "GET",
                                         .url = url,
                                         .headers = headers,
                                         .begin = begin_body,
                                         .take = take_body,
                                         .ctx = d};

    snprintf(range, sizeof(range), "Range: bytes=%" PRIu64 "-", d->have);
    int rc = registry_exchange(r, h, &request, reply, err);
    if (rc == 0 && reply->status == 416 && d->have > 0) { /* the registry does not know ranges */
        http_reply_clear(reply);
        return start_afresh(d, err) < 0 ? -1 : fetch_rest(r, h, d, url, reply, err);
    }
    return rc;
}

static int fetch_all(struct registry *r, struct http *h, struct download *d, const char *url,
                     struct err *err)
{
    _cleanup_http_reply_ struct http_reply reply = {0};
    uint64_t forgiven = 0;
    unsigned tries = 0;
    int rc;

    do {
        rc = fetch_rest(r, h, d, url, &reply, err);
        /* A connection that breaks now and then is not one that never works. */
        if (d->have >= forgiven + PROGRESS) {
            forgiven = d->have;
            tries = 0;
        }
        rc = registry_retry(r, &tries, rc, &reply, err);
    } while (rc > 0);
    if (rc < 0)
        return -1;
    return reply.status == 200 || reply.status == 206 ? 0 : registry_refused(r, &reply, err);
}

static int pull_blob(struct registry *r, struct http *h, const struct blob_request *blob, int fd,
                     off_t offset, struct err *err)
{
    _cleanup_free_ char *url = registry_url(r, "blobs/%s", blob->digest.text);
    _cleanup_sha256_ struct sha256 *hash = sha256_new(err);
    struct download d = {.blob = blob, .fd = fd, .offset = offset, .hash = hash};

    if (!url || !hash)
        return url ? -1 : err_nomem(err);
    if (fetch_all(r, h, &d, url, err) < 0 || check_download(&d, err) < 0)
        return err_wrap(err, "%s", blob->digest.text);
    return 0;
}

/* ---- several at once ---- */

struct pull {
    struct registry *r;
    const struct blob_request *blobs;
    const off_t *offsets;
    size_t count;
    int fd;
    atomic_size_t next;
    pthread_mutex_t lock; /* of the members below */
    size_t failed;        /* the first blob that failed; count: none */
    struct err err;
};

static void report_failure(struct pull *p, size_t blob, const struct err *err)
{
    pthread_mutex_lock(&p->lock);
    if (p->failed == p->count) {
        p->failed = blob;
        p->err = *err;
        registry_stop(p->r);
    }
    pthread_mutex_unlock(&p->lock);
}

static void *pull_worker(void *ctx)
{
    struct pull *p = ctx;
    struct err err = ERR_INIT;
    _cleanup_http_ struct http *h = registry_http(p->r, &err);

    for (size_t i = atomic_fetch_add(&p->next, 1); i < p->count;
         i = atomic_fetch_add(&p->next, 1)) {
        if (!h || pull_blob(p->r, h, &p->blobs[i], p->fd, p->offsets[i], &err) < 0) {
            report_failure(p, i, &err);
            break;
        }
    }
    return NULL;
}

int registry_pull_blobs(struct registry *r, const struct blob_request *blobs, const off_t *offsets,
                        size_t count, int fd, size_t *failed, struct err *err)
{
    struct pull p = {.r = r,
                     .blobs = blobs,
                     .offsets = offsets,
                     .count = count,
                     .fd = fd,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .failed = count};
    pthread_t threads[WORKERS - 1];
    size_t started = 0;

    while (started < WORKERS - 1 && started + 1 < count &&
           pthread_create(&threads[started], NULL, pull_worker, &p) == 0)
        started++;
    pull_worker(&p); /* this thread works, too: alone, if no other can start */
    while (started > 0)
        pthread_join(threads[--started], NULL);
    if (p.failed == count)
        return 0;
    *failed = p.failed;
    *err = p.err;
    return -1;
}
