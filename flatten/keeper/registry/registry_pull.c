#include "flatten/keeper/registry/registry.h"

#include "base/fdio.h"
#include "base/path.h"
#include "flatten/exchange/blob_store.h"
#include "flatten/stream/relay.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

enum {
    WORKERS = 4,
    PROGRESS = 1024 * 1024, /* bytes after which failures are forgotten */
    PIECE = 256 * 1024,     /* bytes after which a waiting reader is told */
};

/* Blobs that are fetched into one file. */
struct registry_pull {
    struct registry *r;
    struct blob_request *blobs; /* owned; their media types are not used */
    off_t *offsets;
    size_t count;
    int fd;
    struct arrival *arrival; /* or NULL */
    struct worker *workers[WORKERS];
    size_t worker_count;
    atomic_size_t next;
    atomic_bool stop;     /* after a failure, or with the pull's end */
    pthread_mutex_t lock; /* of the members below */
    bool failed;          /* a blob has; `err` is the first error */
    struct err err;
};

/* ---- one blob ---- */

struct download {
    struct registry_pull *pull;
    size_t number;
    const struct blob_request *blob;
    uint64_t have; /* bytes written and hashed: they stay as they are */
    uint64_t told; /* bytes that a reader knows of */
    uint64_t skip; /* bytes of the body that have been written */
    bool whole;    /* the registry does not know ranges */
    struct sha256 *hash;
};

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

/*
 * A body from the beginning does not replace what was written: a reader may have read it. If the
 * bytes differ, the digest is wrong.
 */
static int begin_body(void *ctx, const struct http_reply *reply, struct err *err)
{
    struct download *d = ctx;

    d->skip = 0;
    if (reply->status == 206 && d->have > 0)
        return continues(d, reply)
                   ? 0
                   : err_set(err, ERR_FORMAT, "the registry resumes at another place than asked");
    if (reply->status != 200)
        return err_set(err, ERR_FORMAT, "the registry answers with HTTP status %ld", reply->status);
    d->skip = d->have;
    return 0;
}

/* The last bytes are kept from the reader until the digest is known to be right. */
static void tell_reader(struct download *d)
{
    if (!d->pull->arrival || d->have - d->told < PIECE || d->have == d->blob->size)
        return;
    d->told = d->have;
    arrival_advance(d->pull->arrival, d->number, d->told);
}

static int take_body(void *ctx, const char *data, size_t len, struct err *err)
{
    struct download *d = ctx;
    size_t known = len < d->skip ? len : (size_t)d->skip;

    d->skip -= known;
    data += known;
    len -= known;
    if (len > d->blob->size - d->have)
        return err_set(err, ERR_DIGEST,
                       "the registry sends more than the %" PRIu64 " bytes that the manifest says",
                       d->blob->size);
    off_t at = d->pull->offsets[d->number] + (off_t)d->have;
    if (fd_pwrite_all(d->pull->fd, data, len, at, err) < 0)
        return err_wrap(err, "temporary file in %s (set TMPDIR)", temporary_dir());
    d->have += len;
    tell_reader(d);
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
static int fetch_rest(struct http *h, struct download *d, const char *url, struct http_reply *reply,
                      struct err *err)
{
    char range[64];
    bool resumes = d->have > 0 && !d->whole;
    const char *const headers[] = {"Accept: */*", resumes ? range : NULL, NULL};
    const struct http_request request = {.method = "GET",
                                         .url = url,
                                         .headers = headers,
                                         .begin = begin_body,
                                         .take = take_body,
                                         .ctx = d};

    snprintf(range, sizeof(range), "Range: bytes=%" PRIu64 "-", d->have);
    int rc = registry_exchange(d->pull->r, h, &request, reply, err);
    if (rc == 0 && reply->status == 416 && resumes) {
        http_reply_clear(reply);
        d->whole = true;
        return fetch_rest(h, d, url, reply, err);
    }
    return rc;
}

static int fetch_all(struct http *h, struct download *d, const char *url, struct err *err)
{
    struct registry *r = d->pull->r;
    _cleanup_http_reply_ struct http_reply reply = {0};
    uint64_t forgiven = 0;
    unsigned tries = 0;
    int rc;

    do {
        rc = fetch_rest(h, d, url, &reply, err);
        /* A connection that breaks now and then is not one that never works. */
        if (d->have >= forgiven + PROGRESS) {
            forgiven = d->have;
            tries = 0;
        }
        rc = registry_retry(r, h, &tries, rc, &reply, err);
    } while (rc > 0);
    if (rc < 0)
        return -1;
    return reply.status == 200 || reply.status == 206 ? 0 : registry_refused(r, &reply, err);
}

static int pull_blob(struct registry_pull *p, struct http *h, size_t number, struct err *err)
{
    const struct blob_request *blob = &p->blobs[number];
    _cleanup_free_ char *url = registry_url(p->r, "blobs/%s", blob->digest.text);
    _cleanup_sha256_ struct sha256 *hash = sha256_new(err);
    struct download d = {.pull = p, .number = number, .blob = blob, .hash = hash};

    if (!url || !hash)
        return url ? -1 : err_nomem(err);
    if (fetch_all(h, &d, url, err) < 0 || check_download(&d, err) < 0)
        return err_wrap(err, "%s", blob->digest.text);
    if (p->arrival)
        arrival_advance(p->arrival, number, blob->size);
    return 0;
}

/* ---- several at once ---- */

static void report_failure(struct registry_pull *p, size_t blob, const struct err *err)
{
    pthread_mutex_lock(&p->lock);
    if (!p->failed) {
        p->failed = true;
        p->err = *err;
        atomic_store(&p->stop, true);
        if (p->arrival)
            arrival_fail(p->arrival, blob, err);
    }
    pthread_mutex_unlock(&p->lock);
}

static void pull_some(void *ctx)
{
    struct registry_pull *p = ctx;
    struct err err = ERR_INIT;
    _cleanup_http_ struct http *h = registry_http(p->r, &p->stop, &err);

    for (size_t i = atomic_fetch_add(&p->next, 1); i < p->count;
         i = atomic_fetch_add(&p->next, 1)) {
        if (!h || pull_blob(p, h, i, &err) < 0) {
            report_failure(p, i, &err);
            break;
        }
    }
}

static struct registry_pull *pull_new(struct registry *r, const struct registry_blobs *blobs,
                                      struct arrival *arrival, struct err *err)
{
    struct registry_pull *p = calloc(1, sizeof(*p));
    size_t count = blobs->count;

    if (!p) {
        err_nomem(err);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    _cleanup_registry_pull_ struct registry_pull *pull = p;
    p->r = r;
    p->count = count;
    p->arrival = arrival_ref(arrival);
    p->fd = fcntl(blobs->fd, F_DUPFD_CLOEXEC, 3);
    p->blobs = calloc(count, sizeof(*p->blobs));
    p->offsets = calloc(count, sizeof(*p->offsets));
    if (p->fd < 0) {
        err_sys(err, "dup");
        return NULL;
    }
    if (!p->blobs || !p->offsets) {
        err_nomem(err);
        return NULL;
    }
    memcpy(p->blobs, blobs->list, count * sizeof(*p->blobs));
    memcpy(p->offsets, blobs->offsets, count * sizeof(*p->offsets));
    return steal_ptr(&pull);
}

struct registry_pull *registry_pull_start(struct registry *r, const struct registry_blobs *blobs,
                                          struct arrival *arrival, struct err *err)
{
    _cleanup_registry_pull_ struct registry_pull *p = pull_new(r, blobs, arrival, err);
    struct err why = ERR_INIT;

    while (p && p->worker_count < WORKERS && p->worker_count < p->count) {
        struct worker *worker = worker_start(pull_some, p, &why);
        if (!worker)
            break;
        p->workers[p->worker_count++] = worker;
    }
    if (p && p->worker_count == 0) {
        *err = why;
        return NULL;
    }
    return steal_ptr(&p);
}

int registry_pull_wait(struct registry_pull *p, struct err *err)
{
    while (p->worker_count > 0)
        worker_join(p->workers[--p->worker_count]);
    if (p->failed)
        *err = p->err;
    return p->failed ? -1 : 0;
}

void registry_pull_free(struct registry_pull *p)
{
    struct err ignored;

    atomic_store(&p->stop, true);
    (void)!registry_pull_wait(p, &ignored);
    pthread_mutex_destroy(&p->lock);
    if (p->arrival)
        arrival_unref(p->arrival);
    cleanup_fd(&p->fd);
    free(p->blobs);
    free(p->offsets);
    free(p);
}
