#include "flatten/carve/spool/spool_identities.h"

#include "flatten/layer/emit.h"
#include "flatten/stream/cpus.h"
#include "flatten/stream/relay.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_WORKERS = 16, BLOCK = 256 * 1024 };

struct hashing {
    const struct spool *spool;
    struct layout_identity *out;
    struct identity_stamp *stamps; /* or NULL */
    atomic_size_t next;            /* the record that no thread has taken yet */
};

struct hash_worker {
    struct hashing *hashing;
    struct worker *thread;
    struct sha256_lane hash;
    char *block;
    bool failed;
    struct err err;
};

static int hash_content(struct hash_worker *w, const struct spool_record *r, struct err *err)
{
    for (uint64_t at = 0; at < r->size;) {
        size_t len = r->size - at < BLOCK ? (size_t)(r->size - at) : BLOCK;
        if (spool_read(w->hashing->spool, r, at, w->block, len, err) < 0 ||
            identity_add(&w->hash, w->block, len, err) < 0)
            return -1;
        at += len;
    }
    return 0;
}

static int find_timeless(struct hash_worker *w, const struct spool_record *r,
                         struct archive_entry *header, struct layout_identity *out, struct err *err)
{
    return identity_begin(&w->hash, header, err) < 0 || hash_content(w, r, err) < 0
               ? -1
               : identity_timeless(&w->hash, out, err);
}

static int hash_record(struct hash_worker *w, size_t number, struct err *err)
{
    const struct spool *s = w->hashing->spool;
    const struct spool_record *r = &s->records[number];
    _cleanup_entry_ struct archive_entry *header = spool_header(s, r, err);
    struct layout_identity timeless;

    if (!header || find_timeless(w, r, header, &timeless, err) < 0)
        return -1;
    struct identity_stamp stamp = identity_stamp_of(&timeless, header);
    if (w->hashing->stamps)
        w->hashing->stamps[number] = stamp;
    return identity_of_stamp(&w->hash, &stamp, &w->hashing->out[number], err);
}

static void hash_records(void *ctx)
{
    struct hash_worker *w = ctx;
    size_t number;

    while (!w->failed && (number = w->hashing->next++) < w->hashing->spool->record_count)
        w->failed = hash_record(w, number, &w->err) < 0;
}

static int start_worker(struct hash_worker *w, struct hashing *hashing, struct err *err)
{
    *w = (struct hash_worker){.hashing = hashing, .err = ERR_INIT};
    if (sha256_lane_init(&w->hash, err) < 0)
        return -1;
    if (!(w->block = malloc(BLOCK)))
        return err_nomem(err);
    w->thread = worker_start(hash_records, w, err);
    return w->thread ? 0 : -1;
}

/* Waits for the thread, if it was started. Returns -1 with the error that it had. */
static int end_worker(struct hash_worker *w, struct err *err)
{
    if (w->thread)
        worker_join(w->thread);
    sha256_lane_clear(&w->hash);
    free(w->block);
    if (w->failed)
        *err = w->err;
    return w->failed ? -1 : 0;
}

struct layout_identity *spool_identities(const struct spool *s, struct identity_stamp **stamps,
                                         struct err *err)
{
    _cleanup_free_ struct layout_identity *out = calloc(s->record_count + 1, sizeof(*out));
    _cleanup_free_ struct identity_stamp *list =
        stamps ? calloc(s->record_count + 1, sizeof(*list)) : NULL;
    struct hashing hashing = {.spool = s, .out = out, .stamps = list};
    struct hash_worker workers[MOST_WORKERS];
    unsigned count = 0, wanted = cpus_usable();
    int rc = out && (list || !stamps) ? 0 : err_nomem(err);

    while (rc == 0 && count < wanted && count < MOST_WORKERS)
        rc = start_worker(&workers[count++], &hashing, err);
    for (unsigned i = 0; i < count; i++)
        if (end_worker(&workers[i], err) < 0)
            rc = -1;
    if (rc < 0)
        return NULL;
    if (stamps)
        *stamps = steal_ptr(&list);
    return steal_ptr(&out);
}
