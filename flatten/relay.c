#include "flatten/relay.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct relay {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned consumers, blocks;
    size_t block_size;
    uint64_t made, used[RELAY_MOST_CONSUMERS]; /* blocks, by the producer and by each consumer */
    bool ended, stopped;
    struct err end, stop; /* why */
    size_t filled;        /* the producer's, of the block in the making */
    bool has_room;        /* the same: that block is free to be filled */
    size_t last_len;      /* of the last block, once ended */
    unsigned char *memory;
};

struct relay *relay_new(unsigned consumers, unsigned blocks, size_t block_size, struct err *err)
{
    struct relay *r = calloc(1, sizeof(*r));
    unsigned char *memory = malloc(blocks * block_size);

    if (!r || !memory) {
        free(r);
        free(memory);
        err_nomem(err);
        return NULL;
    }
    r->memory = memory;
    r->consumers = consumers;
    r->blocks = blocks;
    r->block_size = block_size;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    return r;
}

void relay_free(struct relay *r)
{
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->changed);
    free(r->memory);
    free(r);
}

static unsigned char *block_at(const struct relay *r, uint64_t number)
{
    return r->memory + number % r->blocks * r->block_size;
}

static bool is_full(const struct relay *r)
{
    for (unsigned i = 0; i < r->consumers; i++)
        if (r->made - r->used[i] >= r->blocks)
            return true;
    return false;
}

static int await_room(struct relay *r, struct err *err)
{
    pthread_mutex_lock(&r->lock);
    while (!r->stopped && is_full(r))
        pthread_cond_wait(&r->changed, &r->lock);
    bool stopped = r->stopped;
    if (stopped)
        *err = r->stop;
    pthread_mutex_unlock(&r->lock);
    r->has_room = !stopped;
    return stopped ? -1 : 0;
}

static void hand_on(struct relay *r)
{
    pthread_mutex_lock(&r->lock);
    r->made++;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    r->filled = 0;
    r->has_room = false;
}

int relay_write(struct relay *r, const void *data, size_t len, struct err *err)
{
    const char *p = data;

    while (len > 0) {
        if (!r->has_room && await_room(r, err) < 0)
            return -1;
        size_t room = r->block_size - r->filled, piece = len < room ? len : room;
        unsigned char *to = block_at(r, r->made) + r->filled;
        if (p) {
            memcpy(to, p, piece);
            p += piece;
        } else {
            memset(to, 0, piece);
        }
        r->filled += piece;
        len -= piece;
        if (r->filled == r->block_size)
            hand_on(r);
    }
    return 0;
}

void relay_end(struct relay *r, const struct err *why)
{
    pthread_mutex_lock(&r->lock);
    r->ended = true;
    r->last_len = r->filled;
    r->made += r->filled > 0;
    if (why)
        r->end = *why;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

int relay_take(struct relay *r, unsigned consumer, const void **data, size_t *len, struct err *err)
{
    int rc = 1;

    pthread_mutex_lock(&r->lock);
    while (!r->stopped && !r->ended && r->used[consumer] == r->made)
        pthread_cond_wait(&r->changed, &r->lock);
    uint64_t at = r->used[consumer];
    if (r->stopped) {
        *err = r->stop;
        rc = -1;
    } else if (at == r->made) {
        rc = r->end.kind == ERR_NONE ? 0 : -1;
        if (rc < 0)
            *err = r->end;
    } else {
        *data = block_at(r, at);
        *len = r->ended && r->last_len && at == r->made - 1 ? r->last_len : r->block_size;
    }
    pthread_mutex_unlock(&r->lock);
    return rc;
}

void relay_release(struct relay *r, unsigned consumer)
{
    pthread_mutex_lock(&r->lock);
    r->used[consumer]++;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

void relay_stop(struct relay *r, const struct err *why)
{
    pthread_mutex_lock(&r->lock);
    if (!r->stopped) {
        r->stopped = true;
        r->stop = *why;
    }
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
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
