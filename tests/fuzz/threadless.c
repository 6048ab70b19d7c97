/*
 * relay.h, hasher.h and verifier.h without threads, for fuzz targets: starting threads and taking
 * locks costs a hundred times as much as a small input itself. A relay keeps all that was put in. A
 * worker runs to its end when a consumer finds nothing, or when it is joined; so a worker that
 * fills a relay must be started after one that empties another.
 */
#include "threadless.h"

#include "base/buf.h"
#include "base/hash.h"
#include "flatten/layer/verifier.h"
#include "flatten/stream/hasher.h"
#include "fuzz.h"

#include <inttypes.h>
#include <string.h>

/* ---- workers ---- */

struct worker {
    struct worker *older; /* that have not run */
    worker_run *run;
    void *ctx;
    bool pending;
};

static struct worker *newest;

struct worker *worker_start(worker_run *run, void *ctx, struct err *err)
{
    struct worker *w = malloc(sizeof(*w));

    (void)err;
    must(w);
    *w = (struct worker){newest, run, ctx, true};
    newest = w;
    return w;
}

static void worker_finish(struct worker *w)
{
    struct worker **at = &newest;

    if (!w->pending)
        return;
    while (*at != w)
        at = &(*at)->older;
    *at = w->older;
    w->pending = false;
    w->run(w->ctx);
}

void worker_join(struct worker *w)
{
    worker_finish(w);
    free(w);
}

/* ---- relays ---- */

enum { STEP = 4096 };

struct relay {
    struct buf content;
    struct buf flushes; /* offsets in the content, of type size_t */
    size_t used[RELAY_MOST_CONSUMERS], lent[RELAY_MOST_CONSUMERS];
    size_t block_size;
    bool ended, stopped;
    struct err end, stop;
};

static struct hub the_hub;

struct hub *hub_new(struct err *err)
{
    (void)err;
    return &the_hub;
}

void hub_free(struct hub *hub)
{
    (void)hub;
}

/* A worker that has not run makes the change. */
void hub_wait(struct hub *hub)
{
    must(newest);
    pthread_mutex_unlock(&hub->lock);
    worker_finish(newest);
    pthread_mutex_lock(&hub->lock);
}

struct relay *relay_new(struct hub *hub, unsigned consumers, unsigned blocks, size_t block_size,
                        struct err *err)
{
    struct relay *r = calloc(1, sizeof(*r));

    (void)hub, (void)blocks, (void)err;
    must(r && consumers <= RELAY_MOST_CONSUMERS);
    r->block_size = block_size;
    return r;
}

void relay_free(struct relay *r)
{
    buf_free(&r->content);
    buf_free(&r->flushes);
    free(r);
}

int relay_reserve(struct relay *r, void **to, size_t *room, struct err *err)
{
    must(!r->ended);
    if (r->stopped) {
        *err = r->stop;
        return -1;
    }
    *to = buf_reserve(&r->content, STEP);
    *room = STEP;
    must(*to);
    return 0;
}

void relay_commit(struct relay *r, size_t len)
{
    must(len <= STEP);
    r->content.len += len;
}

int relay_write(struct relay *r, const void *data, size_t len, struct err *err)
{
    void *to;
    size_t room;

    if (relay_reserve(r, &to, &room, err) < 0)
        return -1;
    if (data)
        buf_append(&r->content, data, len);
    for (size_t i = 0; !data && i < len; i++)
        buf_putc(&r->content, '\0');
    must(!r->content.failed);
    return 0;
}

int relay_flush(struct relay *r, struct err *err)
{
    if (r->stopped)
        *err = r->stop;
    buf_append(&r->flushes, &r->content.len, sizeof(r->content.len));
    return r->stopped ? -1 : 0;
}

/* Returns where a block ends that begins there. */
static size_t block_end(const struct relay *r, size_t from)
{
    size_t end = r->content.len - from < r->block_size ? r->content.len : from + r->block_size;
    size_t flush;

    for (size_t at = 0; at < r->flushes.len; at += sizeof(flush)) {
        memcpy(&flush, r->flushes.data + at, sizeof(flush));
        if (flush > from && flush < end)
            end = flush;
    }
    return end;
}

void relay_end(struct relay *r, const struct err *why)
{
    r->ended = true;
    r->end = why ? *why : (struct err)ERR_INIT;
}

bool relay_ready(const struct relay *r, unsigned consumer)
{
    return r->stopped || r->ended || r->used[consumer] < r->content.len;
}

int relay_present(const struct relay *r, unsigned consumer, const void **data, size_t *len,
                  struct err *err)
{
    const struct err *failure = r->stopped ? &r->stop : &r->end;
    size_t left = r->content.len - r->used[consumer];

    if (!r->stopped && left > 0) {
        *data = r->content.data + r->used[consumer];
        *len = block_end(r, r->used[consumer]) - r->used[consumer];
        return 1;
    }
    *len = 0;
    if (failure->kind == ERR_NONE)
        return 0;
    *err = *failure;
    return -1;
}

int relay_take(struct relay *r, unsigned consumer, const void **data, size_t *len, struct err *err)
{
    while (!relay_ready(r, consumer)) {
        must(newest);
        worker_finish(newest);
    }
    int rc = relay_present(r, consumer, data, len, err);
    r->lent[consumer] = rc > 0 ? *len : 0;
    return rc;
}

void relay_release(struct relay *r, unsigned consumer)
{
    r->used[consumer] += r->lent[consumer];
    r->lent[consumer] = 0;
}

void relay_drop(struct relay *r, unsigned consumer)
{
    relay_release(r, consumer);
}

void relay_halt(struct relay *r, const struct err *why)
{
    if (!r->stopped)
        r->stop = *why;
    r->stopped = true;
}

void relay_stop(struct relay *r, const struct err *why)
{
    relay_halt(r, why);
}

/* ---- hashing ---- */

struct hash_lane {
    struct relay *relay;
    unsigned consumer;
};

struct hasher {
    int unused;
};

static struct hasher the_hasher;

struct hasher *hasher_new(struct err *err)
{
    (void)err;
    return &the_hasher;
}

void hasher_free(struct hasher *h)
{
    (void)h;
}

struct hub *hasher_hub(struct hasher *h)
{
    (void)h;
    return &the_hub;
}

void threadless_digest(const void *data, size_t len, struct digest *out)
{
    static const struct hash_key key = {{3, 4}};

    snprintf(out->text, sizeof(out->text), "sha256:%064" PRIx64,
             len ? hash_bytes_by(&key, data, len, 0) : 0);
}

struct hash_lane *hash_lane_new(struct hasher *h, struct relay *relay, unsigned consumer,
                                struct err *err)
{
    struct hash_lane *lane = malloc(sizeof(*lane));

    (void)h, (void)err;
    must(lane);
    *lane = (struct hash_lane){relay, consumer};
    return lane;
}

int hash_lane_finish(struct hash_lane *lane, struct digest *out, struct err *err)
{
    const struct buf *content = &lane->relay->content;
    const struct err *failure = lane->relay->stopped ? &lane->relay->stop : &lane->relay->end;

    must(lane->relay->ended || lane->relay->stopped);
    if (failure->kind != ERR_NONE) {
        *err = *failure;
        return -1;
    }
    threadless_digest(content->data, content->len, out);
    return 0;
}

void hash_lane_free(struct hash_lane *lane)
{
    free(lane);
}

/* ---- the verifier, which finds nothing wrong ---- */

struct verifier {
    struct image *image;
};

struct verifier *verifier_new(struct image *image, struct err *err)
{
    static struct verifier only;

    (void)err;
    only.image = image;
    for (size_t i = 0; i < image->layer_count; i++) {
        image->layers[i].verifier = &only;
        image->layers[i].blob_is_tar = true;
    }
    return &only;
}

void verifier_free(struct verifier *v)
{
    for (size_t i = 0; i < v->image->layer_count; i++) {
        v->image->layers[i].verifier = NULL;
        v->image->layers[i].blob_is_tar = false;
    }
}

int verifier_check(struct verifier *v, const struct layer *layer, struct err *err)
{
    (void)v, (void)layer, (void)err;
    return 0;
}

int verifier_finish(struct verifier *v, struct err *err)
{
    (void)v, (void)err;
    return 0;
}

void verifier_explain(struct verifier *v, struct err *err)
{
    (void)v, (void)err;
}
