#include "flatten/stream/hasher.h"

#include <string.h>

struct hash_lane {
    struct hasher *hasher;
    struct hash_lane *next;
    struct relay *relay;
    unsigned consumer;
    size_t at; /* within the relay's current block */
    struct sha256_lane hash;
    bool busy;    /* the thread hashes a piece of it, without the lock */
    bool leaving; /* hash_lane_free waits for that */
    bool done;    /* the relay has ended, or hashing failed */
    struct err failure;
};

/* Two streams side by side gain nothing without SHA instructions: then each has a thread. */
enum { STREAMS = 2 };

struct hasher {
    struct hub *hub;
    struct worker *workers[STREAMS];
    unsigned worker_count;
    unsigned side_by_side; /* streams that a thread hashes at a time */
    struct hash_lane *lanes;
    bool over;
};

/* A partial last block is hashed alone, so that the other stream stays aligned to whole blocks. */
int hash_pieces(struct hash_piece *pieces, unsigned count, struct err *err)
{
    struct hash_piece *a = &pieces[0], *b = &pieces[1];

    if (count == 1)
        return sha256_lane_update(a->hash, a->data, a->len, err);
    struct hash_piece *shorter = a->len < b->len ? a : b, *longer = shorter == a ? b : a;
    longer->len = shorter->len / SHA256_BLOCK * SHA256_BLOCK;
    if (longer->len == 0)
        return sha256_lane_update(shorter->hash, shorter->data, shorter->len, err);
    shorter->len = longer->len;
    return sha256_pair_update(a->hash, a->data, b->hash, b->data, a->len, err);
}

/* Returns true with the lane's next piece. Marks a lane that has ended. Called with the lock. */
static bool lane_next_piece(struct hash_lane *lane, struct hash_piece *out)
{
    const void *data;
    size_t len;

    if (lane->busy || lane->done || !relay_ready(lane->relay, lane->consumer))
        return false;
    if (relay_present(lane->relay, lane->consumer, &data, &len, &lane->failure) <= 0) {
        lane->done = true;
        pthread_cond_broadcast(&lane->hasher->hub->changed);
        return false;
    }
    *out = (struct hash_piece){&lane->hash, (const unsigned char *)data + lane->at, len - lane->at,
                               lane};
    return true;
}

static unsigned next_pieces(struct hasher *h, struct hash_piece out[STREAMS])
{
    unsigned count = 0;

    for (struct hash_lane *lane = h->lanes; lane && count < h->side_by_side; lane = lane->next)
        count += lane_next_piece(lane, &out[count]);
    return count;
}

/* Notes what was hashed of a piece. Called with the lock. */
static void lane_finish_piece(const struct hash_piece *piece, const struct err *failure)
{
    struct hash_lane *lane = piece->owner;
    struct err ignored;
    const void *data;
    size_t len;

    lane->busy = false;
    if (lane->leaving)
        pthread_cond_broadcast(&lane->hasher->hub->changed);
    if (failure) {
        lane->failure = *failure;
        lane->done = true;
        relay_halt(lane->relay, failure);
        return;
    }
    lane->at += piece->len;
    if (relay_present(lane->relay, lane->consumer, &data, &len, &ignored) > 0 && lane->at == len) {
        relay_drop(lane->relay, lane->consumer);
        lane->at = 0;
    }
}

/* Called with the lock, which it drops while it hashes. */
static void hash_next(struct hasher *h, struct hash_piece pieces[STREAMS], unsigned count)
{
    struct err err;

    for (unsigned i = 0; i < count; i++)
        ((struct hash_lane *)pieces[i].owner)->busy = true;
    pthread_mutex_unlock(&h->hub->lock);
    bool failed = hash_pieces(pieces, count, &err) < 0;
    pthread_mutex_lock(&h->hub->lock);
    for (unsigned i = 0; i < count; i++)
        lane_finish_piece(&pieces[i], failed ? &err : NULL);
}

static void hash_relays(void *ctx)
{
    struct hasher *h = ctx;
    struct hash_piece pieces[STREAMS];

    pthread_mutex_lock(&h->hub->lock);
    while (!h->over) {
        unsigned count = next_pieces(h, pieces);
        if (count == 0)
            pthread_cond_wait(&h->hub->changed, &h->hub->lock);
        else
            hash_next(h, pieces, count);
    }
    pthread_mutex_unlock(&h->hub->lock);
}

static int start_workers(struct hasher *h, struct err *err)
{
    unsigned threads = sha256_pair_supported() ? 1 : STREAMS;

    h->side_by_side = STREAMS / threads;
    if (!(h->hub = hub_new(err)))
        return -1;
    for (; h->worker_count < threads; h->worker_count++)
        if (!(h->workers[h->worker_count] = worker_start(hash_relays, h, err)))
            return -1;
    return 0;
}

struct hasher *hasher_new(struct err *err)
{
    _cleanup_hasher_ struct hasher *h = calloc(1, sizeof(*h));

    if (!h) {
        err_nomem(err);
        return NULL;
    }
    return start_workers(h, err) < 0 ? NULL : steal_ptr(&h);
}

void hasher_free(struct hasher *h)
{
    if (h->hub) {
        pthread_mutex_lock(&h->hub->lock);
        h->over = true;
        pthread_cond_broadcast(&h->hub->changed);
        pthread_mutex_unlock(&h->hub->lock);
    }
    while (h->worker_count > 0)
        worker_join(h->workers[--h->worker_count]);
    cleanup_hub(&h->hub);
    free(h);
}

struct hub *hasher_hub(struct hasher *h)
{
    return h->hub;
}

struct hash_lane *hash_lane_new(struct hasher *h, struct relay *relay, unsigned consumer,
                                struct err *err)
{
    struct hash_lane *lane = calloc(1, sizeof(*lane));

    if (!lane || sha256_lane_init(&lane->hash, err) < 0) {
        free(lane);
        err_nomem(err);
        return NULL;
    }
    lane->hasher = h;
    lane->relay = relay;
    lane->consumer = consumer;
    pthread_mutex_lock(&h->hub->lock);
    lane->next = h->lanes;
    h->lanes = lane;
    pthread_cond_broadcast(&h->hub->changed);
    pthread_mutex_unlock(&h->hub->lock);
    return lane;
}

int hash_lane_finish(struct hash_lane *lane, struct digest *out, struct err *err)
{
    struct hub *hub = lane->hasher->hub;

    pthread_mutex_lock(&hub->lock);
    while (!lane->done)
        pthread_cond_wait(&hub->changed, &hub->lock);
    pthread_mutex_unlock(&hub->lock);
    if (lane->failure.kind != ERR_NONE) {
        *err = lane->failure;
        return -1;
    }
    return sha256_lane_finish(&lane->hash, out, err);
}

void hash_lane_free(struct hash_lane *lane)
{
    struct hasher *h = lane->hasher;
    struct hash_lane **at = &h->lanes;

    pthread_mutex_lock(&h->hub->lock);
    lane->leaving = true;
    while (lane->busy)
        pthread_cond_wait(&h->hub->changed, &h->hub->lock);
    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    pthread_mutex_unlock(&h->hub->lock);
    sha256_lane_clear(&lane->hash);
    free(lane);
}
