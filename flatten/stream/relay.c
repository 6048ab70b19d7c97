#include "flatten/stream/relay.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

struct block {
    unsigned char *data; /* memory, once the block is used: most layers are small */
    size_t len;          /* bytes that it passes on */
};

struct relay {
    struct hub *hub;
    unsigned consumers, blocks;
    size_t block_size;
    uint64_t made, used[RELAY_MOST_CONSUMERS]; /* blocks, by the producer and by each consumer */
    bool ended, stopped;
    struct err end, stop; /* why */
    size_t filled;        /* bytes in the producer's block; used by the producer alone */
    bool has_room;        /* that block is free; used by the producer alone */
    struct block list[];
};

struct hub *hub_new(struct err *err)
{
    struct hub *hub = malloc(sizeof(*hub));

    if (!hub) {
        err_nomem(err);
        return NULL;
    }
    pthread_mutex_init(&hub->lock, NULL);
    pthread_cond_init(&hub->changed, NULL);
    return hub;
}

void hub_free(struct hub *hub)
{
    pthread_mutex_destroy(&hub->lock);
    pthread_cond_destroy(&hub->changed);
    free(hub);
}

void hub_wait(struct hub *hub)
{
    pthread_cond_wait(&hub->changed, &hub->lock);
}

struct relay *relay_new(struct hub *hub, unsigned consumers, unsigned blocks, size_t block_size,
                        struct err *err)
{
    struct relay *r = calloc(1, sizeof(*r) + blocks * sizeof(*r->list));

    if (!r) {
        err_nomem(err);
        return NULL;
    }
    r->consumers = consumers;
    r->blocks = blocks;
    r->block_size = block_size;
    r->hub = hub;
    return r;
}

void relay_free(struct relay *r)
{
    for (unsigned i = 0; i < r->blocks; i++)
        free(r->list[i].data);
    free(r);
}

static struct block *block_of(struct relay *r, uint64_t number)
{
    return &r->list[number % r->blocks];
}

/* True if a consumer has more than that many blocks to go. */
static bool is_behind(const struct relay *r, uint64_t blocks)
{
    for (unsigned i = 0; i < r->consumers; i++)
        if (r->made - r->used[i] > blocks)
            return true;
    return false;
}

/* A producer that must wait waits until half of the blocks are free: threads wake less often. */
static int await_room(struct relay *r, struct err *err)
{
    pthread_mutex_lock(&r->hub->lock);
    if (is_behind(r, r->blocks - 1))
        while (!r->stopped && is_behind(r, r->blocks / 2))
            pthread_cond_wait(&r->hub->changed, &r->hub->lock);
    bool stopped = r->stopped;
    if (stopped)
        *err = r->stop;
    pthread_mutex_unlock(&r->hub->lock);
    r->has_room = !stopped;
    return stopped ? -1 : 0;
}

/*
 * Passes the producer's block on. Consumers are woken only if one has used all blocks and waits.
 * Called with the lock.
 */
static void pass_block(struct relay *r)
{
    bool awaited = false;

    block_of(r, r->made)->len = r->filled;
    for (unsigned i = 0; i < r->consumers; i++)
        awaited = awaited || r->used[i] == r->made;
    r->made++;
    if (awaited)
        pthread_cond_broadcast(&r->hub->changed);
    r->filled = 0;
    r->has_room = false;
}

static void pass_on(struct relay *r)
{
    pthread_mutex_lock(&r->hub->lock);
    pass_block(r);
    pthread_mutex_unlock(&r->hub->lock);
}

int relay_flush(struct relay *r, struct err *err)
{
    if (!r->has_room && await_room(r, err) < 0)
        return -1;
    pass_on(r);
    return 0;
}

int relay_reserve(struct relay *r, void **to, size_t *room, struct err *err)
{
    struct block *block = block_of(r, r->made);

    if (!r->has_room && await_room(r, err) < 0)
        return -1;
    if (!block->data && !(block->data = malloc(r->block_size))) {
        err_nomem(err);
        relay_stop(r, err);
        return -1;
    }
    *to = block->data + r->filled;
    *room = r->block_size - r->filled;
    return 0;
}

void relay_commit(struct relay *r, size_t len)
{
    r->filled += len;
    if (r->filled == r->block_size)
        pass_on(r);
}

int relay_write(struct relay *r, const void *data, size_t len, struct err *err)
{
    const char *p = data;

    while (len > 0) {
        void *to;
        size_t room;
        if (relay_reserve(r, &to, &room, err) < 0)
            return -1;
        size_t piece = len < room ? len : room;
        if (p) {
            memcpy(to, p, piece);
            p += piece;
        } else {
            memset(to, 0, piece);
        }
        relay_commit(r, piece);
        len -= piece;
    }
    return 0;
}

void relay_end(struct relay *r, const struct err *why)
{
    pthread_mutex_lock(&r->hub->lock);
    if (r->filled > 0)
        pass_block(r);
    r->ended = true;
    if (why)
        r->end = *why;
    pthread_cond_broadcast(&r->hub->changed);
    pthread_mutex_unlock(&r->hub->lock);
}

bool relay_ready(const struct relay *r, unsigned consumer)
{
    return r->stopped || r->ended || r->used[consumer] != r->made;
}

int relay_present(const struct relay *r, unsigned consumer, const void **data, size_t *len,
                  struct err *err)
{
    uint64_t at = r->used[consumer];

    if (r->stopped || (at == r->made && r->end.kind != ERR_NONE)) {
        *err = r->stopped ? r->stop : r->end;
        return -1;
    }
    if (at == r->made)
        return 0;
    *data = r->list[at % r->blocks].data;
    *len = r->list[at % r->blocks].len;
    return 1;
}

int relay_take(struct relay *r, unsigned consumer, const void **data, size_t *len, struct err *err)
{
    pthread_mutex_lock(&r->hub->lock);
    while (!relay_ready(r, consumer))
        pthread_cond_wait(&r->hub->changed, &r->hub->lock);
    int rc = relay_present(r, consumer, data, len, err);
    pthread_mutex_unlock(&r->hub->lock);
    return rc;
}

void relay_drop(struct relay *r, unsigned consumer)
{
    r->used[consumer]++;
    if (r->made - r->used[consumer] == r->blocks / 2)
        pthread_cond_broadcast(&r->hub->changed);
}

void relay_release(struct relay *r, unsigned consumer)
{
    pthread_mutex_lock(&r->hub->lock);
    relay_drop(r, consumer);
    pthread_mutex_unlock(&r->hub->lock);
}

void relay_halt(struct relay *r, const struct err *why)
{
    if (!r->stopped) {
        r->stopped = true;
        r->stop = *why;
    }
    pthread_cond_broadcast(&r->hub->changed);
}

void relay_stop(struct relay *r, const struct err *why)
{
    pthread_mutex_lock(&r->hub->lock);
    relay_halt(r, why);
    pthread_mutex_unlock(&r->hub->lock);
}

/* ---- threads ---- */

struct worker {
    pthread_t thread;
    worker_run *run;
    void *ctx;
};

static void *worker_main(void *p)
{
    const struct worker *w = p;

    w->run(w->ctx);
    return NULL;
}

struct worker *worker_start(worker_run *run, void *ctx, struct err *err)
{
    struct worker *w = malloc(sizeof(*w));
    sigset_t all, old;

    if (!w) {
        err_nomem(err);
        return NULL;
    }
    w->run = run;
    w->ctx = ctx;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&w->thread, NULL, worker_main, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0) {
        free(w);
        errno = rc;
        err_sys(err, "cannot start a thread");
        return NULL;
    }
    return w;
}

void worker_join(struct worker *w)
{
    pthread_join(w->thread, NULL);
    free(w);
}
