#include "flatten/carve/spool/spool_identities.h"

#include "flatten/layer/emit.h"
#include "flatten/merge/tree/array.h"
#include "flatten/stream/cpus.h"

#include <stdlib.h>

enum { MOST_WORKERS = 16, BLOCK = 256 * 1024 };

struct hash_worker {
    struct spool_identities *all;
    struct worker *thread;
    struct sha256 *sha256;
    char *block;
};

/* The lock of the spool's hub guards all that changes once the threads run. */
struct spool_identities {
    const struct spool *spool;
    struct hash_worker workers[MOST_WORKERS];
    unsigned worker_count;
    struct layout_identity *identities; /* by record */
    size_t identity_cap;
    struct identity_stamp *stamps; /* by record, if they are wanted */
    size_t stamp_cap;
    bool stamped;
    size_t next; /* the record that no thread has taken yet */
    bool whole;  /* no record comes any more */
    bool failed;
    struct err failure;
};

/* ---- one record ---- */

/* The result of hashing one record. */
struct hashed {
    struct identity_stamp stamp;
    struct layout_identity identity;
};

static int hash_record(struct hash_worker *w, const struct spool_record *r, struct hashed *out,
                       struct err *err)
{
    const struct spool *s = w->all->spool;
    _cleanup_entry_ struct archive_entry *header = spool_header(s, r, err);
    int rc = header ? identity_begin(w->sha256, header, err) : -1;

    for (uint64_t at = 0; rc == 0 && at < r->size;) {
        size_t len = r->size - at < BLOCK ? (size_t)(r->size - at) : BLOCK;
        rc = spool_read(s, r, at, w->block, len, err);
        if (rc == 0)
            rc = identity_add(w->sha256, w->block, len, err);
        at += len;
    }
    if (rc < 0 || identity_end(w->sha256, header, &out->stamp, err) < 0)
        return -1;
    return identity_of_stamp(w->sha256, &out->stamp, &out->identity, err);
}

/* ---- all, called with the lock ---- */

/* Waits for a record that no thread has taken. Returns false at the end. */
static bool take_record(struct spool_identities *h, size_t *number, struct spool_record *out)
{
    while (!h->failed) {
        if (spool_ready(h->spool, h->next, out)) {
            *number = h->next++;
            return true;
        }
        if (h->whole)
            return false;
        pthread_cond_wait(&h->spool->hub->changed, &h->spool->hub->lock);
    }
    return false;
}

static int make_room(struct spool_identities *h, size_t count, struct err *err)
{
    if (array_reserve(&h->identities, &h->identity_cap, count, sizeof(*h->identities), err) < 0)
        return -1;
    return h->stamped ? array_reserve(&h->stamps, &h->stamp_cap, count, sizeof(*h->stamps), err)
                      : 0;
}

static int keep_result(struct spool_identities *h, size_t number, const struct hashed *result,
                       struct err *err)
{
    if (make_room(h, number + 1, err) < 0)
        return -1;
    h->identities[number] = result->identity;
    if (h->stamped)
        h->stamps[number] = result->stamp;
    return 0;
}

/* The first failure is the one that is reported. */
static void fail(struct spool_identities *h, const struct err *why)
{
    if (!h->failed)
        h->failure = *why;
    h->failed = true;
}

/* ---- threads ---- */

static void hash_records(void *ctx)
{
    struct hash_worker *w = ctx;
    struct spool_identities *h = w->all;
    struct spool_record record;
    struct err err = ERR_INIT;
    struct hashed result;
    size_t number;

    pthread_mutex_lock(&h->spool->hub->lock);
    while (take_record(h, &number, &record)) {
        pthread_mutex_unlock(&h->spool->hub->lock);
        int rc = hash_record(w, &record, &result, &err);
        pthread_mutex_lock(&h->spool->hub->lock);
        if (rc < 0 || keep_result(h, number, &result, &err) < 0)
            fail(h, &err);
    }
    pthread_mutex_unlock(&h->spool->hub->lock);
}

static int start_worker(struct spool_identities *h, struct err *err)
{
    struct hash_worker *w = &h->workers[h->worker_count++];

    w->all = h;
    if (!(w->sha256 = sha256_new(err)))
        return -1;
    if (!(w->block = malloc(BLOCK)))
        return err_nomem(err);
    w->thread = worker_start(hash_records, w, err);
    return w->thread ? 0 : -1;
}

/* Waits for the threads to end. */
static void end_workers(struct spool_identities *h)
{
    while (h->worker_count > 0) {
        struct hash_worker *w = &h->workers[--h->worker_count];
        if (w->thread)
            worker_join(w->thread);
        cleanup_sha256(&w->sha256);
        free(w->block);
    }
}

struct spool_identities *spool_identities_new(const struct spool *s, bool stamps, struct err *err)
{
    _cleanup_spool_identities_ struct spool_identities *h = calloc(1, sizeof(*h));
    unsigned wanted = cpus_usable();

    if (!h) {
        err_nomem(err);
        return NULL;
    }
    h->spool = s;
    h->stamped = stamps;
    while (h->worker_count < wanted && h->worker_count < MOST_WORKERS)
        if (start_worker(h, err) < 0)
            return NULL;
    return steal_ptr(&h);
}

void spool_identities_free(struct spool_identities *h)
{
    struct err given_up;

    err_set(&given_up, ERR_SYSTEM, "no longer wanted");
    pthread_mutex_lock(&h->spool->hub->lock);
    fail(h, &given_up);
    pthread_cond_broadcast(&h->spool->hub->changed);
    pthread_mutex_unlock(&h->spool->hub->lock);
    end_workers(h);
    free(h->identities);
    free(h->stamps);
    free(h);
}

struct layout_identity *spool_identities_finish(struct spool_identities *h,
                                                struct identity_stamp **stamps, struct err *err)
{
    pthread_mutex_lock(&h->spool->hub->lock);
    h->whole = true;
    pthread_cond_broadcast(&h->spool->hub->changed);
    pthread_mutex_unlock(&h->spool->hub->lock);
    end_workers(h);
    if (h->failed) {
        *err = h->failure;
        return NULL;
    }
    if (make_room(h, h->spool->record_count + 1, err) < 0)
        return NULL;
    if (stamps)
        *stamps = steal_ptr(&h->stamps);
    return steal_ptr(&h->identities);
}
